import { EmptyState } from '../../../components/states.tsx'

export default function ApiKeysSection() {
  return <EmptyState title="Not built yet" />
}
