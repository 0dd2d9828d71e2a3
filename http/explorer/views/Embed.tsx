import { UnrealNotice } from '../components/Header.tsx';
import { LiveNotices } from '../components/Live.tsx';
import { usePage } from '../components/pageContext.ts';
import { statusPath } from '../resources.ts';
import { describeWheel } from '../wheelState.ts';
import { NothingNow, Now } from './glance/Glance.tsx';

/** The view that other sites may show in a frame: the wheel now, with a link to the explorer. */
export function Embed() {
  const status = usePage().read('status', statusPath);
  return (
    <main class="embed">
      <UnrealNotice />
      <LiveNotices />
      {status === null ? <NothingNow /> : <Now status={status} wheel={describeWheel(status)} />}
      <p class="small">
        <a href="/" rel="noopener">
          Mining activity
        </a>
      </p>
    </main>
  );
}
