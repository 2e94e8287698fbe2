/** Every endpoint of the search store. */
import { ALIAS_ROUTES } from './alias-routes.ts'
import { ANALYZE_ROUTES } from './analyze-routes.ts'
import { BULK_ROUTES } from './bulk-routes.ts'
import { BY_QUERY_ROUTES } from './by-query-routes.ts'
import { CAT_NODE_ROUTES } from './cat-node-routes.ts'
import { CAT_ROUTES } from './cat-routes.ts'
import { CLUSTER_ROUTES } from './cluster-routes.ts'
import { CLUSTER_STATE_ROUTES } from './cluster-state-routes.ts'
import { DATA_STREAM_ROUTES } from './data-stream-routes.ts'
import { DOCUMENT_ROUTES } from './document-routes.ts'
import { FIELD_CAPS_ROUTES } from './field-caps-routes.ts'
import { INDEX_ROUTES } from './index-routes.ts'
import { LASTING_SEARCH_ROUTES } from './lasting-search-routes.ts'
import { METRICS_ROUTES } from './metrics-routes.ts'
import { NODE_ROUTES } from './node-routes.ts'
import { ROLLOVER_ROUTES } from './rollover-routes.ts'
import type { Route } from './route.ts'
import { SEARCH_ROUTES } from './search-routes.ts'
import { TEMPLATE_ROUTES } from './template-routes.ts'

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
