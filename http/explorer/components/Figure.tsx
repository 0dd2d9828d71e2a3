import { type ComponentChildren, createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { type Source, usePage } from './pageContext.ts';

interface Common extends Pick<Source, 'route' | 'safeBlock' | 'provenance' | 'observedAt'> {
  readonly isLarge?: boolean;
}

interface FigureProps extends Omit<Source, 'route'>, Partial<Common> {
  /** Null or false if unknown. */
  readonly value: ComponentChildren;
  readonly unit?: string;
  readonly children?: ComponentChildren;
}

const CommonContext = createContext<Common | null>(null);

export function Figures({ children, ...common }: Common & { readonly children: ComponentChildren }) {
  return (
    <CommonContext.Provider value={common}>
      <div class="figures">{children}</div>
    </CommonContext.Provider>
  );
}

export function Figure({ value, unit, children, ...own }: FigureProps) {
  const common = useContext(CommonContext);
  if (common === null) throw new Error('a figure is rendered outside of figures');
  const { isLarge = false, ...source } = { ...common, ...own };
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
