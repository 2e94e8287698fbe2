/**
 * Starts a mock model for trials: `hack/node dataplane/testing/mock-model/main.ts [port] [behaviour]`. Configure it as `openai-compatible` with
 * `baseUrl` `http://127.0.0.1:<port>/v1`, as `ollama` or `anthropic` without `/v1`.
 */
import { type Behaviour, startMockModel } from './mock-model.ts'

const [port = '11434', behaviour = 'good'] = process.argv.slice(2)
const { url } = await startMockModel({ port: Number(port), behaviour: behaviour as Behaviour })
process.stdout.write(`a mock model that is ${behaviour} listens at ${url}\n`)
