interface ScaleProps {
  readonly values: readonly number[];
  /** Distance from the top, in percent of the height. */
  readonly top: (value: number) => number;
  readonly formatValue: (value: number) => string;
}

/** Values at the side of a chart, as text in the page's font size. */
export function Scale({ values, top, formatValue }: ScaleProps) {
  return (
    <div class="scale" aria-hidden="true">
      {values.map((value) => (
        <svg key={value} class="scale-mark" aria-hidden="true" height="100%" width="100%">
          <text x="100%" y={`${top(value)}%`} text-anchor="end" dominant-baseline="middle">
            {formatValue(value)}
          </text>
        </svg>
      ))}
    </div>
  );
}
