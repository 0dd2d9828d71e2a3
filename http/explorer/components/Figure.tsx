import type { ComponentChildren } from 'preact';
import { formatInteger } from '../format/numbers.ts';
import { Time } from './Time.tsx';

export interface Source {
  readonly route: string;
  /** Path of the member in the body, such as `measurement.rpmMilli`. */
  readonly field: string;
  /** All digits in the unit of the route. */
  readonly exact?: string | null;
  readonly meaning?: string;
  readonly provenance?: string | null;
  readonly observedAt?: string | null;
  /** Number of the safe Ethereum block at which it was read. */
  readonly safeBlock?: string | null;
  readonly contract?: string | null;
}

interface FigureProps extends Source {
  readonly label: string;
  /** Null or false if unknown. */
  readonly value: ComponentChildren;
  readonly unit?: string;
  readonly size?: 'large' | 'medium' | 'small';
  readonly children?: ComponentChildren;
}

/** A figure with its label. When pressed, it shows its source and all its digits, also without script. */
export function Figure({ label, value, unit, size = 'medium', children, ...source }: FigureProps) {
  const id = nameSource(label, source);
  const isKnown = value !== null && value !== false;
  return (
    <div class={`figure ${size}`} data-source={`${source.route} ${source.field}`}>
      <button type="button" class="figure-button" popovertarget={id} title="Source of this figure">
        <span class="label">{label}</span>
        {isKnown ? (
          <span class="value">
            {value}
            {unit !== undefined && <span class="unit">&nbsp;{unit}</span>}
          </span>
        ) : (
          <span class="unknown">unknown</span>
        )}
      </button>
      {children !== undefined && <div class="small quiet">{children}</div>}
      <dialog id={id} popover="auto" class="about" aria-label={`About: ${label}`}>
        <p class="about-title">{label}</p>
        {source.meaning !== undefined && <p>{source.meaning}</p>}
        <dl>
          {listSources(source, isKnown).map(
            ([name, content]) =>
              content !== null && (
                <div key={name}>
                  <dt>{name}</dt>
                  <dd>{content}</dd>
                </div>
              ),
          )}
        </dl>
      </dialog>
    </div>
  );
}

function listSources(source: Source, isKnown: boolean): readonly [name: string, ComponentChildren][] {
  const { route, field, provenance = null, observedAt, safeBlock = null, contract } = source;
  return [
    ['In full', isKnown ? (source.exact ?? null) : 'unknown, which is not zero'],
    ['Route', <a key="route" href={route} children={route} />],
    ['Field', <code key="field">{field}</code>],
    ['Provenance', provenance],
    ['Observed', observedAt ? <Time key="observed" at={observedAt} as="minute" /> : null],
    ['Ethereum block', safeBlock === null ? null : formatInteger(safeBlock)],
    ['Contract', contract ? <code key="contract">{contract}</code> : null],
  ];
}

/** ID of a figure, unique on its page: two labels may show the same member. */
function nameSource(label: string, { route, field }: Source): string {
  return `about-${`${label}-${route}-${field}`.toLowerCase().replace(/[^a-z0-9]+/g, '-')}`;
}
