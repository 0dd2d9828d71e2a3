import { Footer } from './components/Footer.tsx';
import { Frame } from './components/Frame.tsx';
import { Header } from './components/Header.tsx';
import type { PageRequest } from './page.ts';
import { About } from './views/About.tsx';
import { Feed } from './views/feed/Feed.tsx';
import { Glance } from './views/glance/Glance.tsx';
import { Owners } from './views/owners/Owners.tsx';
import { Missing, RecordPage } from './views/records/Record.tsx';
import { StatusView } from './views/Status.tsx';
import { Settlements } from './views/settlements/Settlements.tsx';
import { StatisticsView } from './views/statistics/Statistics.tsx';

type AppProps = Pick<PageRequest, 'place'>;

/** Content of `body`, within a page's context. */
export function App(props: AppProps) {
  return (
    <>
      <svg class="patterns" width="0" height="0" aria-hidden="true">
        <defs>
          {/* Marks time that was not observed. */}
          <pattern
            id="hatching"
            width="5"
            height="5"
            patternUnits="userSpaceOnUse"
            patternTransform="rotate(45)"
          >
            <rect width="5" height="5" class="hatch-ground" />
            <rect width="1.4" height="5" class="hatch" />
          </pattern>
        </defs>
      </svg>
      <Frame header={<Header />} footer={<Footer />}>
        <View {...props} />
      </Frame>
    </>
  );
}

function View({ place }: AppProps) {
  switch (place.view) {
    case 'glance':
      return <Glance />;
    case 'statistics':
      return <StatisticsView range={place.range} />;
    case 'settlements':
      return <Settlements {...place} />;
    case 'owners':
      return <Owners {...place} />;
    case 'feed':
      return <Feed {...place} />;
    case 'about':
      return <About />;
    case 'status':
      return <StatusView />;
    case 'missing':
      return <Missing place={place} />;
    default:
      return <RecordPage {...place} />;
  }
}
