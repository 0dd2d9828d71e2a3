import type { ComponentChildren } from 'preact';
import { Footer } from './components/Footer.tsx';
import { Header } from './components/Header.tsx';
import { type Page, PageContext } from './components/pageContext.ts';
import { Feed } from './views/feed/Feed.tsx';
import { Glance } from './views/glance/Glance.tsx';
import { Owners } from './views/owners/Owners.tsx';
import { Settlements } from './views/settlements/Settlements.tsx';
import { StatisticsView } from './views/statistics/Statistics.tsx';

/** Content of `body`, identical on the server and in the browser. */
export function App({ page, children }: { page: Page; children?: ComponentChildren }) {
  return (
    <PageContext.Provider value={page}>
      <a class="skip" href="#content">
        Skip to the content
      </a>
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
      <Header />
      <main id="content" tabIndex={-1}>
        {children ?? <View page={page} />}
      </main>
      <Footer />
    </PageContext.Provider>
  );
}

function View({ page: { place } }: { page: Page }) {
  switch (place.view) {
    case 'glance':
      return <Glance />;
    case 'statistics':
      return <StatisticsView range={place.range} />;
    case 'settlements':
      return <Settlements range={place.range} />;
    case 'owners':
      return <Owners address={place.address} />;
    case 'feed':
      return <Feed category={place.category} />;
    default:
      return null;
  }
}
