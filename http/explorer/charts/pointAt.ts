/** Handlers of a pointer over a row of equally wide cells: they call back with the index of the cell, null when the pointer leaves. */
export function pointAt(count: number, onPoint: (index: number | null) => void) {
  const point = ({ currentTarget, clientX }: PointerEvent & { currentTarget: Element }) => {
    const { left, width } = currentTarget.getBoundingClientRect();
    onPoint(Math.min(Math.max(Math.floor(((clientX - left) / width) * count), 0), count - 1));
  };
  return {
    onPointerMove: point,
    onPointerDown: point,
    // A finger leaves when it is lifted: what it has tapped stays.
    onPointerLeave: ({ pointerType }: PointerEvent) => pointerType === 'touch' || onPoint(null),
  };
}
