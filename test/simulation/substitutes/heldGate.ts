import { createGate as createRealGate, type Gate } from '../../../streams/operators/gate.ts';
import { currentWorld } from '../world/currentWorld.ts';
import { changeHeld } from '../world/held.ts';

export { leaveGate } from '../../../streams/operators/gate.ts';

/** A gate that notes what has entered and not left. */
export function createGate(options: Parameters<typeof createRealGate>[0]): Gate {
  const gate = createRealGate(options);
  const { domain } = currentWorld().time;
  return {
    get isOpen() {
      return gate.isOpen;
    },
    get isHalfFull() {
      return gate.isHalfFull;
    },
    opened: gate.opened,
    enter: (weight) => {
      changeHeld(domain, 'bytes within gates', weight);
      gate.enter(weight);
    },
    leave: (weight) => {
      changeHeld(domain, 'bytes within gates', -weight);
      gate.leave(weight);
    },
  };
}
