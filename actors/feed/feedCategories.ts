export const feedCategories = ['all', 'protocol', 'players', 'measurement'] as const;
export type FeedCategory = (typeof feedCategories)[number];

/** Types by the category that they are of; `measurement.rpm_record` is of the schema alone. */
export const feedTypes = {
  'system.settlement_completed': 'protocol',
  'system.mining_checkpointed': 'protocol',
  'player.miner_minted': 'players',
  'player.miners_merged': 'players',
  'player.rewards_claimed': 'players',
  'measurement.distance_milestone': 'measurement',
  'measurement.daily_distance_milestone': 'measurement',
  'measurement.speed_milestone': 'measurement',
  'measurement.speed_record': 'measurement',
  'measurement.distance_streak': 'measurement',
} as const satisfies Record<string, FeedCategory>;
export type FeedType = keyof typeof feedTypes;

/** Categories that partition all events; the stored ones are ordered by them. */
export type StoredCategory = Exclude<FeedCategory, 'all'>;

export function isOfCategory(category: FeedCategory, type: FeedType): boolean {
  return category === 'all' || feedTypes[type] === category;
}
