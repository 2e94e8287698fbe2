import { Holes } from '../../../components/holes.tsx'

/** A pattern with what differs between its messages set back. */
export function PatternText({ text }: { readonly text: string }) {
  return (
    <code>
      <Holes text={text} />
    </code>
  )
}
