// Prometheus reads a gateway, knows every metric that the dashboard asks for, and an alert fires when the gateway has a fault.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { INSTRUMENTS, type InstrumentName, seriesOf } from '../../src/telemetry/instruments.ts'
import { freePort } from '../support/free-port.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { removeFolder } from '../support/remove-folder.ts'

const run = promisify(execFile)
const MONITORING = new URL('../../deploy/monitoring/', import.meta.url).pathname
const RULES = join(MONITORING, 'rules')

describe('promtool', () => {
  it('takes the rules and the configuration', async () => {
    expect(
      (await run('promtool', ['check', 'rules', join(RULES, 'agent-gateway.rules.yml')])).stdout,
    ).toContain('SUCCESS: 42 rules found')
    expect((await run('promtool', ['check', 'config', join(MONITORING, 'prometheus.yml')])).stdout).toContain(
      'is valid prometheus config',
    )
  })

  it('sees each alert fire on what it is about, and stay quiet on what it is not', async () => {
    const { stdout } = await run('promtool', ['test', 'rules', join(RULES, 'agent-gateway.test.yml')])
    expect(stdout).toContain('SUCCESS')
  })

  it('would see a rule that is wrong', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'rules-'))
    try {
      const rules = await readFile(join(RULES, 'agent-gateway.rules.yml'), 'utf8')
      await writeFile(
        join(folder, 'agent-gateway.rules.yml'),
        rules.replaceAll(
          '(agent_gateway_chain_up{job="agent-gateway"}) == 0',
          '(agent_gateway_chain_up{job="agent-gateway"}) == 1',
        ),
      )
      const tests = await readFile(join(RULES, 'agent-gateway.test.yml'), 'utf8')
      await writeFile(join(folder, 'agent-gateway.test.yml'), tests)
      await expect(
        run('promtool', ['test', 'rules', join(folder, 'agent-gateway.test.yml')]),
      ).rejects.toThrow()
    } finally {
      await removeFolder(folder)
    }
  })
})

describe('Prometheus', () => {
  let gw: TestGateway
  let folder: string
  let url: string
  let stop: () => Promise<unknown>

  beforeAll(async () => {
    gw = await startTestGateway({ env: { GATEWAY_METRICS_PORT: '0' } })
    folder = await mkdtemp(join(tmpdir(), 'prometheus-'))
    const port = await freePort()
    url = `http://127.0.0.1:${port}`
    const config = (await readFile(join(MONITORING, 'prometheus.yml'), 'utf8'))
      .replaceAll('15s', '1s')
      .replace('127.0.0.1:9464', new URL(gw.gateway.metricsUrl!).host)
      .replace('rules/agent-gateway.rules.yml', 'rules.yml')
    await writeFile(join(folder, 'prometheus.yml'), config)
    // Nobody waits minutes here: what is tried is that a rule meets the metrics of a gateway; promtool tries its times.
    const rules = await readFile(join(RULES, 'agent-gateway.rules.yml'), 'utf8')
    await writeFile(join(folder, 'rules.yml'), rules.replaceAll(/for: \w+/g, 'for: 0s'))
    const prometheus = spawn(
      'prometheus',
      [
        `--config.file=${join(folder, 'prometheus.yml')}`,
        `--storage.tsdb.path=${join(folder, 'data')}`,
        `--web.listen-address=127.0.0.1:${port}`,
      ],
      { stdio: ['ignore', 'ignore', 'pipe'] },
    )
    const ended = once(prometheus, 'exit')
    stop = () => {
      prometheus.kill('SIGTERM')
      return ended
    }
    await new Promise<void>((resolve, reject) => {
      // Read on to the end: a closed pipe would end it.
      prometheus.stderr.on('data', (chunk: Buffer) => {
        if (chunk.includes('Server is ready to receive web requests')) resolve()
      })
      ended.then(() => reject(new Error('prometheus ended')), reject)
    })
  })
  afterAll(async () => {
    await stop?.()
    await gw?.close()
    if (folder) await removeFolder(folder)
  })

  async function query(expr: string): Promise<{ metric: Record<string, string>; value: [number, string] }[]> {
    const answer = await fetch(`${url}/api/v1/query?${new URLSearchParams({ query: expr })}`)
    return ((await answer.json()) as { data: { result: [] } }).data.result
  }

  it('reads a gateway', async () => {
    const { capability } = await gw.grant()
    await gw.fetch(capability, { method: 'GET', url: gw.url('/') })
    const calls = 'agent_gateway_calls_total{gen_ai_tool_name="gateway.egress.fetch",agent_gateway_code="ok"}'
    await expect.poll(async () => (await query(calls))[0]?.value[1]).toBe('1')
    expect((await query('up{job="agent-gateway"}'))[0]!.value[1]).toBe('1')
    // Those that are measured where nothing was paid and no message came over MCP.
    const expected = (Object.keys(INSTRUMENTS) as InstrumentName[]).filter(
      (name) => !/payments$|payment\.verify|settle|mcp|facilitator/.test(name),
    )
    for (const name of expected) expect(await query(seriesOf(name)[0]!), name).not.toEqual([])
  })

  it('fires an alert when the gateway is not ready', async () => {
    expect(await query('ALERTS{alertname="AgentGatewayNotReady"}')).toEqual([])
    await gw.store.close()
    await expect
      .poll(async () => (await query('ALERTS{alertname="AgentGatewayNotReady",alertstate="firing"}')).length)
      .toBe(1)
  })

  it('fires another when nobody answers', async () => {
    await gw.gateway.close(0)
    await expect
      .poll(async () => (await query('ALERTS{alertname="AgentGatewayDown",alertstate="firing"}')).length)
      .toBe(1)
    await expect
      .poll(async () => (await query('ALERTS{alertname="AgentGatewayGone",alertstate="firing"}')).length)
      .toBe(1)
  })
})
