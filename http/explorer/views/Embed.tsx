import { usePage } from '../components/pageContext.ts';
import { ResourceNotice } from '../components/ResourceNotice.tsx';
import { statusPath } from '../resources.ts';
import { describeWheel } from '../wheelState.ts';
import { Now } from './glance/Glance.tsx';

/** The view that other sites may show in a frame: the wheel now, with a link to the explorer. */
export function Embed() {
  const status = usePage().read('status', statusPath);
  return (
    <main>
      <ResourceNotice what="The state of the wheel" resource={status} />
      {status.body !== null && <Now status={status.body} wheel={describeWheel(status, null)} />}
      <p class="small">
        <a href="/" target="_blank" rel="noopener">
          Mining activity
        </a>
      </p>
    </main>
  );
}
