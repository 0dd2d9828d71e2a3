interface ScaleProps {
  readonly values: readonly number[];
  /** Per cent of the height from the top. */
  readonly top: (value: number) => number;
  readonly formatValue: (value: number) => string;
}

/** The values beside a chart, as text of the page's own size. */
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
