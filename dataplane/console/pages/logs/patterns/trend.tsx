import { formatCount } from '../../../components/format.ts'

const WIDTH = 104
const HEIGHT = 22

/** Bars over the window, as high as the highest of them. */
export function Trend({ values }: { readonly values: readonly number[] | undefined }) {
  if (values === undefined) return <svg width={WIDTH} height={HEIGHT} aria-hidden />
  const most = Math.max(1, ...values)
  const step = WIDTH / values.length
  return (
    <svg width={WIDTH} height={HEIGHT} role="img" aria-label={`Trend; at most ${formatCount(most)} at a time`}>
      {values.map((value, at) => {
        const height = value === 0 ? 0 : Math.max(1.5, (HEIGHT * value) / most)
        // biome-ignore lint/suspicious/noArrayIndexKey: bars have no other name
        return <rect key={at} x={at * step} y={HEIGHT - height} width={step - 1} height={height} fill="var(--chart-info)" />
      })}
      <line x1={0} x2={WIDTH} y1={HEIGHT - 0.5} y2={HEIGHT - 0.5} stroke="var(--line)" />
    </svg>
  )
}
