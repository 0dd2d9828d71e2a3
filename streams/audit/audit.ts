/** What is compared: a half hour of an installation, or a safe block. */
export const auditKinds = ['half_hour', 'safe_block'] as const;
export type AuditKind = (typeof auditKinds)[number];

export const auditOutcomes = ['agrees', 'drift', 'skipped'] as const;

export type Audit<Sample> =
  | { readonly outcome: 'agrees'; readonly about: string }
  | {
      readonly outcome: 'drift';
      readonly about: string;
      /** The same for the same thing, however often it is found. */
      readonly key: string;
      /** To be compared again until it agrees. */
      readonly sample: Sample;
      /** What differs, a few of it. */
      readonly differences: readonly string[];
      /** The command that corrects it. */
      readonly repair: string;
    }
  | { readonly outcome: 'skipped'; readonly about: string };

/** Differences that are reported of one comparison. */
export const differencesMax = 5;
