import { formatPlace, type Place, parsePlace } from '../place.ts';

/** Paths that change the view without loading a page. The service's other paths are documents and data. */
const pagePattern = /^\/(?:$|statistics$|settlements$|owners(?:\/|$)|feed$)/;

/** Lets links change the view in place, unless the visitor asks for a new tab. */
export function followLinks(go: (place: Place) => void): void {
  document.addEventListener('click', (event) => {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    if (link === null || link.origin !== location.origin || link.target !== '' || link.hash !== '') return;
    if (!pagePattern.test(link.pathname)) return;
    event.preventDefault();
    const place = parsePlace(link.pathname, link.search);
    if (formatPlace(place) !== `${location.pathname}${location.search}`) go(place);
  });
}
