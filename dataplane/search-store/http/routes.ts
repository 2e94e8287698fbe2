/** Every endpoint of the search store. */
import { BULK_ROUTES } from './bulk/bulk-routes.ts'
import { CAT_NODE_ROUTES } from './cat/cat-node-routes.ts'
import { CAT_ROUTES } from './cat/cat-routes.ts'
import { CLUSTER_ROUTES } from './cluster/cluster-routes.ts'
import { CLUSTER_STATE_ROUTES } from './cluster/cluster-state-routes.ts'
import { METRICS_ROUTES } from './cluster/metrics-routes.ts'
import { NODE_ROUTES } from './cluster/node-routes.ts'
import { BY_QUERY_ROUTES } from './documents/by-query-routes.ts'
import { DOCUMENT_ROUTES } from './documents/document-routes.ts'
import { ALIAS_ROUTES } from './indices/alias-routes.ts'
import { ANALYZE_ROUTES } from './indices/analyze-routes.ts'
import { DATA_STREAM_ROUTES } from './indices/data-stream-routes.ts'
import { INDEX_ROUTES } from './indices/index-routes.ts'
import { ROLLOVER_ROUTES } from './indices/rollover-routes.ts'
import { TEMPLATE_ROUTES } from './indices/template-routes.ts'
import type { Route } from './route.ts'
import { FIELD_CAPS_ROUTES } from './search/field-caps-routes.ts'
import { LASTING_SEARCH_ROUTES } from './search/lasting-search-routes.ts'
import { SEARCH_ROUTES } from './search/search-routes.ts'

export const ROUTES: readonly Route[] = [
  ...CLUSTER_ROUTES,
  ...CLUSTER_STATE_ROUTES,
  ...NODE_ROUTES,
  ...METRICS_ROUTES,
  ...BULK_ROUTES,
  ...SEARCH_ROUTES,
  ...LASTING_SEARCH_ROUTES,
  ...DOCUMENT_ROUTES,
  ...BY_QUERY_ROUTES,
  ...CAT_ROUTES,
  ...CAT_NODE_ROUTES,
  ...ALIAS_ROUTES,
  ...TEMPLATE_ROUTES,
  ...DATA_STREAM_ROUTES,
  ...ROLLOVER_ROUTES,
  ...ANALYZE_ROUTES,
  ...FIELD_CAPS_ROUTES,
  ...INDEX_ROUTES,
]
