/** Answers of the scheduler to a client of Airflow's REST API, whichever search store keeps the runs. */
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { FEATURE_RUNS_INDEX } from '../../../contract/indices.ts'
import type { SearchStore } from '../../../ports/search-store.ts'
import { SILENT } from '../../../telemetry/log.ts'
import { createFakeClock } from '../../../testing/fake-clock.ts'
import { createCaller, type HttpCaller } from '../../../testing/http-caller.ts'
import { createMemoryOnlineStore } from '../../../testing/memory-online-store.ts'
import { type Scheduler, startScheduler } from '../scheduler.ts'

const NOW = Date.UTC(2026, 10, 21, 16, 30)
const SCHEDULED = 'scheduled__2026-11-21T15:00:00+00:00'

/** `open` gives a search store that holds no runs, or may lose them. */
export function describeAirflowApi(name: string, open: () => Promise<{ store: SearchStore; stop(): Promise<void> }>): void {
  describe(`the scheduler's Airflow REST API on ${name}`, () => tests(open))
}

function tests(open: Parameters<typeof describeAirflowApi>[1]): void {
  const clock = createFakeClock(NOW)
  let search: SearchStore
  let stop = async () => {}
  let scheduler: Scheduler | undefined
  let api: HttpCaller
  before(async function () {
    this.timeout(30_000)
    ;({ store: search, stop } = await open())
    await search.deleteIndex(FEATURE_RUNS_INDEX)
    const listen = { host: '127.0.0.1', port: 0, portSetting: 'PORT', version: '1.2.3' } as const
    scheduler = await startScheduler({ search, online: createMemoryOnlineStore(), clock, log: SILENT, ...listen })
    api = createCaller(`http://127.0.0.1:${scheduler.port}`)
    await ended('v2', SCHEDULED)
  })
  after(async () => {
    await scheduler?.stop()
    await search.deleteIndex(FEATURE_RUNS_INDEX)
    await stop()
  })

  const runs = (version: string) => `/api/${version}/dags/feature_compute/dagRuns`
  /** The run once it has ended: the scheduler works beside. */
  const ended = async (version: string, id: string) => {
    for (;;) {
      const { body } = await api.get(`${runs(version)}/${encodeURIComponent(id)}`)
      if (body.state === 'success' || body.state === 'failed') return body
      await new Promise(resolve => setImmediate(resolve))
    }
  }

  for (const [path, name] of [
    ['/api/v1/health', 'v1'],
    ['/api/v2/monitor/health', 'v2'],
  ] as const)
    it(`${name}: health`, async () => {
      const { body } = await api.get(path)
      expect(body.metadatabase).to.deep.equal({ status: 'healthy' })
      expect(body.scheduler).to.deep.equal({ status: 'healthy', latest_scheduler_heartbeat: new Date(NOW).toISOString() })
      expect(body).to.have.all.keys('metadatabase', 'scheduler', 'triggerer', 'dag_processor')
    })

  it('GET /health says ok, as every role does', async () => {
    expect((await api.get('/health')).body).to.deep.include({ status: 'ok', metadatabase: { status: 'healthy' } })
  })

  for (const version of ['v1', 'v2']) {
    const base = `/api/${version}`
    const time = (iso: string) => (version === 'v1' ? iso.replace('.000Z', '+00:00') : iso)

    it(`${version}: version`, async () => {
      expect((await api.get(`${base}/version`)).body).to.deep.equal({ version: '1.2.3', git_version: null })
    })

    it(`${version}: lists and gets the one DAG`, async () => {
      const { body } = await api.get(`${base}/dags`)
      expect(body.total_entries).to.equal(1)
      expect(body.dags[0]).to.include({ dag_id: 'feature_compute', is_paused: false, max_active_runs: 1 })
      expect((await api.get(`${base}/dags/feature_compute`)).body).to.deep.equal(body.dags[0])
      expect((await api.get(`${base}/dags?dag_id_pattern=other`)).body).to.deep.equal({ dags: [], total_entries: 0 })
      expect((await api.get(`${base}/dags?paused=true`)).body.total_entries).to.equal(0)
      expect((await api.get(`${base}/dags?tags=ml&tags=hourly`)).body).to.deep.equal({ dags: [], total_entries: 0 })
      expect((await api.get(`${base}/dags/other`)).status).to.equal(404)
    })

    it(`${version}: lists and gets runs`, async () => {
      const { body } = await api.get(`${runs(version)}?state=success&state=failed&run_type=scheduled&order_by=-logical_date&limit=1`)
      expect(body.total_entries).to.equal(1)
      expect(body.dag_runs[0]).to.deep.include({
        dag_id: 'feature_compute',
        dag_run_id: SCHEDULED,
        run_type: 'scheduled',
        state: 'success',
        logical_date: time('2026-11-21T15:00:00.000Z'),
        data_interval_start: time('2026-11-21T15:00:00.000Z'),
        data_interval_end: time('2026-11-21T16:00:00.000Z'),
        conf: {},
        note: null,
      })
      expect((await api.get(`${runs(version)}/${SCHEDULED}`)).body).to.deep.equal(body.dag_runs[0])
      expect((await api.get(`${base}/dags/~/dagRuns?start_date_gte=2026-11-22`)).body).to.deep.equal({ dag_runs: [], total_entries: 0 })
      expect((await api.get(`${runs(version)}/none`)).status).to.equal(404)
    })

    it(`${version}: a triggered run is queued and then done; the same id again is 409`, async () => {
      const id = `by-hand-${version}`
      const body = { dag_run_id: id, logical_date: null, conf: { a: 1 }, note: 'why' }
      const triggered = await api.send('POST', runs(version), body)
      expect(triggered.status).to.equal(200)
      expect(triggered.body).to.deep.include({
        dag_run_id: id,
        run_type: 'manual',
        state: 'queued',
        conf: { a: 1 },
        note: 'why',
        start_date: null,
      })
      expect(await ended(version, id)).to.include({ state: 'success', data_interval_start: time('2026-11-21T15:00:00.000Z') })
      expect((await api.send('POST', runs(version), body)).status).to.equal(409)
      expect(
        (await api.send('POST', runs(version), { logical_date: '2026-11-21T15:00:00Z' })).status,
        'its logical date is taken',
      ).to.equal(409)
      const { body: listed } = await api.get(`${runs(version)}?order_by=-dag_run_id&limit=1&offset=1`)
      expect([listed.dag_runs.length, listed.total_entries]).to.deep.equal([1, version === 'v1' ? 2 : 4])
    })

    it(`${version}: while the DAG is paused a triggered run stays queued`, async () => {
      const dag = `${base}/dags/feature_compute?update_mask=is_paused`
      expect((await api.send('PATCH', dag, { is_paused: true })).body).to.include({ dag_id: 'feature_compute', is_paused: true })
      const logicalDate = version === 'v1' ? '2026-11-20T10:30:00Z' : '2026-11-20T11:30:00+00:00'
      const { body: run } = await api.send('POST', runs(version), { logical_date: logicalDate })
      for (let i = 0; i < 5; i++)
        expect((await api.get(`${runs(version)}/${encodeURIComponent(run.dag_run_id)}`)).body.state).to.equal('queued')
      expect((await api.send('PATCH', dag, { is_paused: false })).body.is_paused).to.equal(false)
      expect((await ended(version, run.dag_run_id)).state).to.equal('success')
      await api.send('PATCH', dag, { is_paused: false })
    })

    const refused: readonly { name: string; method: string; path: string; body?: unknown; status: number; error: RegExp }[] = [
      {
        name: 'a conf that a list of runs could not tell',
        method: 'POST',
        path: runs(version),
        body: { conf: { text: 'x'.repeat(16_384) } },
        status: 400,
        error: /^conf: expected at most 16384 characters of JSON/,
      },
      {
        name: 'a note longer than those of Airflow',
        method: 'POST',
        path: runs(version),
        body: { note: 'x'.repeat(1_001) },
        status: 400,
        error: /^note: expected string to have <=1000 characters/,
      },
      { name: 'an unknown member', method: 'POST', path: runs(version), body: { extra: 1 }, status: 400, error: /extra: unknown field/ },
      {
        name: 'a run id with a slash',
        method: 'POST',
        path: runs(version),
        body: { dag_run_id: 'a/b' },
        status: 400,
        error: /^dag_run_id: .*seen "a\/b"/,
      },
      {
        name: 'a logical date that is no time',
        method: 'POST',
        path: runs(version),
        body: { logical_date: 'soon' },
        status: 400,
        error: /^logical_date: expected a time .*seen "soon"/,
      },
      {
        name: 'a logical date to come',
        method: 'POST',
        path: runs(version),
        body: { logical_date: '2027-01-01' },
        status: 400,
        error: /future/,
      },
      {
        name: 'half an interval',
        method: 'POST',
        path: runs(version),
        body: { data_interval_start: '2026-11-21T10:00:00Z' },
        status: 400,
        error: /both or none/,
      },
      {
        name: 'an interval that is no hour',
        method: 'POST',
        path: runs(version),
        body: { data_interval_start: '2026-11-21T10:00:00Z', data_interval_end: '2026-11-21T12:00:00Z' },
        status: 400,
        error: /one full hour/,
      },
      { name: 'an order that is none', method: 'GET', path: `${runs(version)}?order_by=colour`, status: 400, error: /^order_by/ },
      { name: 'a state that is none', method: 'GET', path: `${runs(version)}?state=lost`, status: 400, error: /^state/ },
      {
        name: 'a pause that is no boolean',
        method: 'PATCH',
        path: `${base}/dags/feature_compute`,
        body: { is_paused: 'yes' },
        status: 400,
        error: /^is_paused/,
      },
      { name: 'a run of another DAG', method: 'POST', path: `${base}/dags/other/dagRuns`, body: {}, status: 404, error: /"other"/ },
      { name: 'deleting', method: 'DELETE', path: `${runs(version)}/${SCHEDULED}`, status: 405, error: /GET/ },
    ]
    for (const { name, method, path, body, status, error } of refused)
      it(`${version}: ${status} for ${name}`, async () => {
        const answer = await api.send(method, path, body)
        expect(answer.body.error).to.match(error)
        expect(answer.status).to.equal(status)
      })
  }

  for (const version of ['v1', 'v2'])
    it(`${version}: a run that a tenant triggered is shown to no other`, async () => {
      const id = `of-acme-${version}`
      expect((await api.send('POST', runs(version), { dag_run_id: id, note: 'secret' }, 'acme')).status).to.equal(200)
      const listed = async (tenant?: string) =>
        (await api.get(`${runs(version)}?limit=1000`, tenant)).body.dag_runs.map((run: { dag_run_id: string }) => run.dag_run_id)
      for (const tenant of ['acme', undefined]) {
        expect((await api.get(`${runs(version)}/${id}`, tenant)).body.note).to.equal('secret')
        expect(await listed(tenant)).to.include.members([id, SCHEDULED])
      }
      expect((await api.get(`${runs(version)}/${id}`, 'globex')).status).to.equal(404)
      expect(await listed('globex'))
        .to.include(SCHEDULED)
        .and.to.not.include(id)
      await ended(version, id)
    })
}
