import { Page } from '../../components/panel.tsx'
import { EmptyState } from '../../components/states.tsx'
import { TimeRangePicker } from '../../components/time-range-picker.tsx'

export default function OverviewPage() {
  return (
    <Page title="Overview" actions={<TimeRangePicker />}>
      <EmptyState title="Not built yet" />
    </Page>
  )
}
