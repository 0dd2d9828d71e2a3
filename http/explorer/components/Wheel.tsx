import type { WheelState } from '../wheelState.ts';

const rungs = Array.from({ length: 12 }, (_, index) => (index * Math.PI) / 6);

/** Slowest and fastest turn that is drawn; a faster wheel would flicker. The style sheet has a class for each step. */
const turnSteps = [8, 4, 2, 1];

/**
 * The wheel, turning at about the measured speed. It consists of two pictures. Only the inner one turns, so the browser can move it without
 * redrawing it.
 */
export function Wheel({ state, rpmMilli }: { state: WheelState; rpmMilli: number }) {
  const turnSeconds = rpmMilli === 0 ? Number.POSITIVE_INFINITY : 60_000 / rpmMilli;
  const step = turnSteps.findIndex((seconds) => seconds <= turnSeconds);
  const speed = state === 'turning' ? `turn-${step === -1 ? turnSteps.length : step + 1}` : '';
  return (
    <div class={`wheel ${state}`} aria-hidden="true">
      <svg class={`rotor ${speed}`} viewBox="-60 -60 120 120" aria-hidden="true">
        <circle r="52" class="rim" />
        <circle r="45" class="rim inner" />
        {rungs.map((angle) => (
          <line
            key={angle}
            class="spoke"
            x1={(Math.cos(angle) * 9).toFixed(1)}
            y1={(Math.sin(angle) * 9).toFixed(1)}
            x2={(Math.cos(angle) * 45).toFixed(1)}
            y2={(Math.sin(angle) * 45).toFixed(1)}
          />
        ))}
        <circle class="mark" cx="0" cy="-48.5" r="3.5" />
        <circle r="9" class="hub" />
      </svg>
      <svg class="stand" viewBox="-60 -60 120 120" aria-hidden="true">
        <path d="M0 0 L-26 58 M0 0 L26 58 M-36 58 H36" />
        <circle r="3.2" />
      </svg>
    </div>
  );
}
