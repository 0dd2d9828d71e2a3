import { usePage } from '../components/pageContext.ts';

interface ChartCursorProps {
  readonly label: string;
  readonly count: number;
  readonly pointed: number | null;
  readonly describe: (index: number) => string;
  readonly onPoint: (index: number | null) => void;
  /** Cells per row in a chart with several rows, between which the up and down keys move. */
  readonly rowLength?: number;
}

/**
 * Lets the keyboard point at the values of a chart, and a screen reader say them. It is an invisible slider, because
 * every browser and screen reader can move one. The chart below shows which value it points at.
 */
export function ChartCursor({ label, count, pointed, describe, onPoint, rowLength = 0 }: ChartCursorProps) {
  if (usePage().actions === null) return null;
  const index = pointed ?? 0;
  return (
    <input
      class="cursor"
      type="range"
      min={0}
      max={count - 1}
      value={index}
      aria-label={label}
      aria-valuetext={describe(index)}
      onFocus={() => onPoint(index)}
      onBlur={() => onPoint(null)}
      onInput={(event) => onPoint(event.currentTarget.valueAsNumber)}
      onKeyDown={(event) => {
        const rows = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
        if (rows === 0 || rowLength === 0) return;
        event.preventDefault();
        const next = index + rows * rowLength;
        if (next >= 0 && next < count) onPoint(next);
      }}
    />
  );
}
