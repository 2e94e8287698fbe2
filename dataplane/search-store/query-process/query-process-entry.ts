/** Entry of the query process. */
import { serveQueries } from './serve-queries.ts'

serveQueries()
