import { z } from 'zod'

/** A list whose length is looked at before its elements: `z.array(element).max(most)` makes problems of all elements first, and then says that there are too many. */
export function boundedList<Element extends z.ZodType>(
  element: Element,
  { least = 0, most }: { readonly least?: number; readonly most: number },
) {
  return z.array(z.unknown()).min(least).max(most).pipe(z.array(element))
}
