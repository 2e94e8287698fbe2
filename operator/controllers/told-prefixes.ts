import type { LogPipeline } from '../api/log-pipeline.ts'
import type { LogPipelineStatus } from '../api/status.ts'

/**
 * The topic prefixes that statuses had. A CRD of an older release that comes into force keeps them no more: a pipeline that runs would take the topics of
 * one that ran before prefixes had a default, for good once the own CRD is back.
 */
export interface ToldPrefixes {
  /** `written` is what the API server kept of `told`. */
  note(key: string, written: LogPipeline, told: LogPipelineStatus): void
  /** The pipeline with the prefix that its status had. */
  restore(key: string, seen: LogPipeline): LogPipeline
  forget(key: string): void
}

export function createToldPrefixes(): ToldPrefixes {
  const told = new Map<string, { readonly uid: string | undefined; readonly topicPrefix: string }>()
  const remember = (key: string, uid: string | undefined, topicPrefix: string | undefined): void => {
    if (topicPrefix !== undefined) told.set(key, { uid, topicPrefix })
  }
  return {
    note(key, { metadata: { uid }, status, spec }, { topicPrefix }) {
      // Where none is kept a prefix by default is not used; one that was kept before, or that the resource says, is.
      const known = told.get(key)
      const isUsed = (known !== undefined && known.uid === uid) || spec.bus?.topicPrefix !== undefined
      remember(key, uid, status?.topicPrefix ?? (isUsed ? topicPrefix : undefined))
    },
    restore(key, seen) {
      const { status, metadata } = seen
      remember(key, metadata.uid, status?.topicPrefix)
      const known = told.get(key)
      if (known === undefined || status === undefined || status.topicPrefix !== undefined || metadata.uid !== known.uid) return seen
      return { ...seen, status: { ...status, topicPrefix: known.topicPrefix } }
    },
    forget: key => void told.delete(key),
  }
}
