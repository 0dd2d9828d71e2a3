import { formatDate } from '../addresses/days.ts';
import type { Place, RecordView } from '../addresses/place.ts';
import { formatInteger, shortenHash } from './format/numbers.ts';

export function nameView(place: Place): string {
  if ('id' in place) return recordNames[place.view](place.id);
  if (place.view === 'owners' && place.address !== null) return `Owner ${shortenHash(place.address)}`;
  if (place.view === 'missing') return place.others.length > 1 ? 'Which one?' : 'Not found';
  const names = {
    glance: 'At a glance',
    statistics: 'Statistics',
    settlements: 'Settlements',
    owners: 'Owners',
    feed: 'Feed',
    about: 'About',
    status: 'Status',
  };
  return names[place.view];
}

const recordNames: Readonly<Record<RecordView, (id: string) => string>> = {
  miner: (id) => `Miner ${id}`,
  round: (id) => `Round ${formatInteger(id)}`,
  transaction: (id) => `Transaction ${shortenHash(id)}`,
  day: (id) => `Day of ${formatDate(id)}`,
};
