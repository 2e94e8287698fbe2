/** The start page: what is open, what came last, whether the services answer. All texts of logs go in as text. */
const REFRESH_MS = 5_000
const byId = id => document.getElementById(id)

function element(tag, className, text) {
  const node = document.createElement(tag)
  if (className) node.className = className
  node.textContent = text
  return node
}

function row(...cells) {
  const item = document.createElement('li')
  item.append(...cells)
  return item
}

function time(iso) {
  const node = element('time', '', new Date(iso).toLocaleString())
  node.dateTime = iso
  return node
}

function fill(list, rows, empty) {
  byId(list).replaceChildren(...rows)
  if (empty) byId(empty).hidden = rows.length > 0
}

async function json(path, options) {
  const response = await fetch(path, options)
  if (!response.ok) throw new Error(`${path} answers ${response.status}`)
  return response.json()
}

async function showServices() {
  const { backends } = await json('/health')
  const names = Object.entries(backends)
  const away = names.filter(([, state]) => state !== 'connected').map(([name]) => name)
  byId('summary').textContent = away.length === 0 ? 'All services answer' : `Not answering: ${away.join(', ')}`
  byId('summary').className = away.length === 0 ? 'connected' : 'disconnected'
  fill(
    'services',
    names.map(([name, state]) => row(element('span', 'main', name), element('span', state, state))),
  )
}

async function showIncidents() {
  const incidents = await json('/api/ticketing/api/incidents?status=open&limit=20')
  fill(
    'incidents',
    incidents.map(({ severity, title, service, createdAt }) =>
      row(
        element('span', `badge ${severity}`, severity),
        element('span', 'main', title),
        element('span', 'faint', service),
        time(createdAt),
      ),
    ),
    'no-incidents',
  )
}

async function showLogs() {
  const query = { size: 10, sort: [{ timestamp: 'desc' }], _source: ['timestamp', 'level', 'service', 'message'] }
  const { hits } = await json('/api/search/service-logs-*/_search', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(query),
  })
  fill(
    'logs',
    hits.hits.map(({ _source: { level, service, message, timestamp } }) =>
      row(element('span', `badge ${level}`, level), element('span', 'main', message), element('span', 'faint', service), time(timestamp)),
    ),
    'no-logs',
  )
}

byId('first-log').textContent = `curl -s ${location.origin}/api/upload --data-binary \\
  '{"service":"checkout","level":"ERROR","message":"payment gateway timeout"}'`

byId('file').addEventListener('change', async ({ target }) => {
  const [file] = target.files
  if (!file) return
  byId('upload').textContent = `Sending ${file.name}…`
  try {
    const response = await fetch('/api/upload', { method: 'POST', body: file })
    const { accepted, rejected, errors, error } = await response.json()
    if (!response.ok) throw new Error(error)
    const first = errors.length > 0 ? `; line ${errors[0].line}: ${errors[0].error}` : ''
    byId('upload').textContent = `${accepted} taken, ${rejected} rejected${first}`
  } catch (error) {
    byId('upload').textContent = `Not sent: ${error.message}`
  }
  target.value = ''
})

/** What one part cannot show just now, the others still do; the list of services says why. */
async function refresh() {
  if (!document.hidden) {
    const shown = await Promise.allSettled([showServices(), showIncidents(), showLogs()])
    if (shown[0].status === 'rejected') {
      byId('summary').textContent = 'The dashboard does not answer'
      byId('summary').className = 'disconnected'
    }
  }
  setTimeout(refresh, REFRESH_MS)
}
refresh()
