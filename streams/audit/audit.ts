/** An audit compares the rows of a half hour with its messages, or the state at a safe block with the node. */
export const auditKinds = ['half_hour', 'safe_block'] as const;
export type AuditKind = (typeof auditKinds)[number];

export const auditOutcomes = ['agrees', 'drift', 'skipped'] as const;

export type Audit<Sample> =
  | { readonly outcome: 'agrees'; readonly about: string }
  | {
      readonly outcome: 'drift';
      readonly about: string;
      /** Identifies the sample: repeated audits of it have the same key. */
      readonly key: string;
      /** Compared again until it agrees. */
      readonly sample: Sample;
      /** Descriptions of the first few differences. */
      readonly differences: readonly string[];
      /** Command that makes the stored or shown values correct again. */
      readonly repair: string;
    }
  | { readonly outcome: 'skipped'; readonly about: string };

/** Maximum number of differences that one comparison reports. */
export const differencesMax = 5;
