import { compareCounts, formatCount, formatShare, formatShort } from '../../components/format.ts'
import { Tile, Tiles } from '../../components/layout/tile.tsx'
import type { Counts } from './overview-data.ts'
import type { OpenIncidentsRead } from './read-open-incidents.ts'

export interface CountTilesProps {
  readonly counts: Counts
  readonly incidents: OpenIncidentsRead | undefined
  readonly windowMs: number
}

export function CountTiles({ counts, incidents, windowMs }: CountTilesProps) {
  const { records, errors, recordsBefore, errorsBefore, services, hasMoreServices } = counts
  const share = records === 0 ? 0 : errors / records
  const shareBefore = recordsBefore === 0 ? 0 : errorsBefore / recordsBefore
  const urgent = incidents?.urgent ?? 0
  const silent = services.filter(service => service.records === 0).length
  return (
    <Tiles>
      <Tile title="Records" value={formatShort(records)}>
        {rateOf(records, windowMs)}
        {recordsBefore > 0 && `, ${compareCounts(records, recordsBefore).text}`}
      </Tile>
      <Tile title="Errors" value={formatShare(share)} tone={share >= 0.05 && share > shareBefore * 1.5 ? 'bad' : undefined}>
        {formatShort(errors)} {errors === 1 ? 'record' : 'records'}
        {recordsBefore > 0 && `, before ${formatShare(shareBefore)}`}
      </Tile>
      <Tile
        title="Open incidents"
        value={incidents === undefined ? '…' : formatCount(incidents.total)}
        tone={urgent > 0 ? 'bad' : undefined}
      >
        {incidents === undefined ? 'not known' : urgent > 0 ? `${formatCount(urgent)} critical or high` : 'none critical or high'}
      </Tile>
      <Tile title="Services" value={`${formatCount(services.length - silent)}${hasMoreServices ? '+' : ''}`}>
        {silent > 0 ? `${silent} fell silent` : 'with records'}
      </Tile>
    </Tiles>
  )
}

function rateOf(records: number, windowMs: number): string {
  const perSecond = records / (windowMs / 1_000)
  return perSecond >= 1 ? `${formatShort(perSecond)} a second` : `${formatShort(perSecond * 60)} a minute`
}
