import { Holes } from '../../../components/text/holes.tsx'

/** A pattern with what differs between its messages set back. */
export function PatternText({ text }: { readonly text: string }) {
  return (
    <code dir="auto">
      <Holes text={text} />
    </code>
  )
}
