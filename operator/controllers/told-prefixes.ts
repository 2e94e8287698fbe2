import type { LogPipeline } from '../api/log-pipeline.ts'

/**
 * The topic prefixes that the API server kept in statuses. A CRD of an older release that comes into force keeps them no more: a pipeline that runs
 * would take the topics of one that ran before prefixes had a default, for good once the own CRD is back.
 */
export interface ToldPrefixes {
  note(key: string, written: LogPipeline): void
  /** The pipeline with the prefix that its status was written with. */
  restore(key: string, seen: LogPipeline): LogPipeline
  forget(key: string): void
}

export function createToldPrefixes(): ToldPrefixes {
  const told = new Map<string, { readonly uid: string | undefined; readonly topicPrefix: string }>()
  return {
    note(key, { metadata: { uid }, status }) {
      if (status?.topicPrefix !== undefined) told.set(key, { uid, topicPrefix: status.topicPrefix })
    },
    restore(key, seen) {
      const known = told.get(key)
      if (known === undefined || seen.status === undefined || seen.status.topicPrefix !== undefined || seen.metadata.uid !== known.uid)
        return seen
      return { ...seen, status: { ...seen.status, topicPrefix: known.topicPrefix } }
    },
    forget: key => void told.delete(key),
  }
}
