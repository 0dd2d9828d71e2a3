import { List } from 'immutable';
import { type ChainFeedEvent, eventTypes, type MeasurementEvent } from '../events/eventSchemas.ts';
import { type EventWindow, nothingEvicted } from '../events/eventWindow.ts';

export interface FeedSources {
  readonly measurement: EventWindow<MeasurementEvent>;
  readonly chain: EventWindow<ChainFeedEvent>;
}
export type FeedSource = keyof FeedSources;
export const feedSources = ['measurement', 'chain'] as const satisfies readonly FeedSource[];
export const nothingMeasured: FeedSources['measurement'] = { events: List(), evicted: nothingEvicted };

/** The first part of a type's name decides its category. */
const categories = { system: 'protocol', player: 'players', measurement: 'measurement' } as const;

export const feedCategories = ['all', ...Object.values(categories)] as const;
export type FeedCategory = (typeof feedCategories)[number];

/** Each event has one of these categories. Stored events are sorted by it. */
export type StoredCategory = Exclude<FeedCategory, 'all'>;

export type FeedType = (typeof eventTypes)[number];

/** Category of each type. `measurement.rpm_record` of the contract is missing, since it is never emitted. */
export const feedTypes = Object.fromEntries(
  eventTypes.map((type) => [type, categories[type.split('.')[0] as keyof typeof categories]]),
) as Readonly<Record<FeedType, StoredCategory>>;

export function isOfCategory(category: FeedCategory, type: FeedType): boolean {
  return category === 'all' || feedTypes[type] === category;
}

const sourceCategories: Readonly<Record<FeedSource, readonly StoredCategory[]>> = {
  measurement: ['measurement'],
  chain: ['protocol', 'players'],
};

export function listStoredCategories(category: FeedCategory, source: FeedSource): readonly StoredCategory[] {
  return sourceCategories[source].filter((one) => category === 'all' || category === one);
}
