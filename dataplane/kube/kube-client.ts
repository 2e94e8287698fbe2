/** The port to a Kubernetes API server: what operator and agent ask of it, one method per kind of request. */
import type { Answer, ApiFailure } from './api-failure.ts'
import type { KubernetesObject } from './object.ts'
import type { ObjectName, Resource } from './resource.ts'

/** Which objects of a kind. */
export interface Selection {
  /** Missing: all namespaces. */
  readonly namespace?: string
  readonly labelSelector?: string
  readonly fieldSelector?: string
  /** Metadata alone travels (`PartialObjectMetadata`). */
  readonly metadataOnly?: boolean
}

export interface PageOptions extends Selection {
  readonly limit?: number
  readonly continue?: string
}

export interface ObjectPage {
  readonly items: readonly KubernetesObject[]
  readonly resourceVersion: string
  /** Missing: this was the last page. */
  readonly continue?: string
}

export interface WatchOptions extends Selection {
  readonly resourceVersion: string
  /** The server ends the watch after this time. */
  readonly timeoutSeconds: number
  /** Cuts the connection; the events then end. */
  readonly signal: AbortSignal
}

export type WatchEvent =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: KubernetesObject }
  /** Nothing happened up to this version. */
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string }
  /** The stream told of an error, broke, or held something unreadable; nothing follows. */
  | { readonly type: 'ERROR'; readonly failure: ApiFailure }

export interface ApplyOptions {
  /** Takes fields over from other managers; otherwise a difference is answered with 409. */
  readonly force: boolean
}

/** The object is deleted only if it still is this one. */
export interface DeleteOptions {
  readonly uid?: string
  readonly resourceVersion?: string
}

export interface RequestOptions {
  /** Default 30 s; waits for the rate limit, and those that a 429 asks for, are part of it. */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

/**
 * No method throws or rejects: what goes wrong is an `ApiFailure`. A 429 is tried again a few times after the time that the server asks for, as far
 * as the request has time, and holds up no other request; everything else is the caller's to repeat. Requests wait for the client's rate limit in the order in which they were made.
 */
export interface KubeClient {
  get(resource: Resource, name: ObjectName, options?: RequestOptions): Promise<Answer<KubernetesObject>>
  list(resource: Resource, page: PageOptions, options?: RequestOptions): Promise<Answer<ObjectPage>>
  /** Answers once the server has accepted; ends when the server ends it. Items carry `apiVersion` and `kind`. */
  watch(resource: Resource, options: WatchOptions): Promise<Answer<AsyncIterable<WatchEvent>>>
  /** Server-side apply as `OPERATOR_NAME`; creates an object that does not exist. */
  apply(resource: Resource, object: KubernetesObject, apply: ApplyOptions, options?: RequestOptions): Promise<Answer<KubernetesObject>>
  /** Server-side apply to the status alone, forced. */
  applyStatus(resource: Resource, object: KubernetesObject, options?: RequestOptions): Promise<Answer<KubernetesObject>>
  create(resource: Resource, object: KubernetesObject, options?: RequestOptions): Promise<Answer<KubernetesObject>>
  /** Replaces the object if its `resourceVersion` is still the one given; otherwise 409. */
  replace(resource: Resource, object: KubernetesObject, options?: RequestOptions): Promise<Answer<KubernetesObject>>
  /** Its dependants are deleted in the background. An object that is gone already is no failure. */
  delete(resource: Resource, name: ObjectName, preconditions: DeleteOptions, options?: RequestOptions): Promise<Answer<undefined>>
  /**
   * The kinds of the API server outside the core group, the preferred version of each first. Cheap to repeat: an unchanged answer is not sent again.
   * A server that cannot tell of all in one answer (before Kubernetes 1.26) is asked for `groups` alone.
   */
  discover(options?: RequestOptions & { readonly groups?: readonly string[] }): Promise<Answer<readonly Resource[]>>
  /** Cuts requests under way; later requests fail. */
  close(): Promise<void>
}
