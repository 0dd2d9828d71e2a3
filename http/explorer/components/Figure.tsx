import type { ComponentChildren } from 'preact';
import { type Source, usePage } from './pageContext.ts';

interface FigureProps extends Source {
  /** Null or false if unknown. */
  readonly value: ComponentChildren;
  readonly unit?: string;
  readonly isLarge?: boolean;
  readonly children?: ComponentChildren;
}

/** A figure with its label. */
export function Figure({ value, unit, isLarge = false, children, ...source }: FigureProps) {
  usePage().sources.push(source);
  return (
    <div class={isLarge ? 'figure large' : 'figure'}>
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
