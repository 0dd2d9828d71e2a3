import type { ComponentChildren } from 'preact';
import { usePage } from './pageContext.ts';

/** Where a figure comes from. The page lists it once, below all figures (`Sources.tsx`). */
export interface Source {
  readonly label: string;
  readonly route: string;
  /** Path of the member in the body, such as `measurement.rpmMilli`. */
  readonly field: string;
  /** All digits in the unit of the route; null if unknown. */
  readonly exact?: string | null;
  readonly meaning?: string;
  readonly provenance?: string | null;
  readonly observedAt?: string | null;
  /** Number of the chain's safe block at which it was read. */
  readonly safeBlock?: string | null;
}

interface FigureProps extends Source {
  /** Null or false if unknown. */
  readonly value: ComponentChildren;
  readonly unit?: string;
  readonly size?: 'large' | 'medium' | 'small';
  readonly children?: ComponentChildren;
}

/** A figure with its label. */
export function Figure({ value, unit, size = 'medium', children, ...source }: FigureProps) {
  usePage().sources.push(source);
  return (
    <div class={`figure ${size}`}>
      <span class="label">{source.label}</span>{' '}
      {value === null || value === false ? (
        <span class="unknown">unknown</span>
      ) : (
        <span class="value">
          {value}
          {unit !== undefined && <span class="unit">&nbsp;{unit}</span>}
        </span>
      )}
      {children !== undefined && <div class="small quiet">{children}</div>}
    </div>
  );
}
