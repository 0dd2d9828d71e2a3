/** Pointer handlers for a row of equally wide cells. They call `onPoint` with the index of the cell, or null when the pointer leaves. */
export function pointAt(count: number, onPoint: (index: number | null) => void) {
  const point = ({ currentTarget, clientX }: PointerEvent & { currentTarget: Element }) => {
    const { left, width } = currentTarget.getBoundingClientRect();
    onPoint(Math.min(Math.max(Math.floor(((clientX - left) / width) * count), 0), count - 1));
  };
  return {
    onPointerMove: point,
    onPointerDown: point,
    // A finger leaves when it is lifted; the tapped cell stays selected.
    onPointerLeave: ({ pointerType }: PointerEvent) => pointerType === 'touch' || onPoint(null),
  };
}
