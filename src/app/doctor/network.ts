// DNS servers, the port we listen on, our own address, and what outbound requests may reach.
import { getServers } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import { createServer } from 'node:net'
import { type Check, errorCode, fail, type Finding, ok, warn } from './finding.ts'

const DNS_TIMEOUT_MS = 2000
const HTTP_TIMEOUT_MS = 5000
/** RFC 6761: never exists, so any answer about it means that the server answers. */
const PROBE_NAME = 'agent-gateway-doctor.invalid'
const NO_ANSWER = new Set([
  'ETIMEOUT',
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ECANCELLED',
  'EDESTRUCTION',
])

/** Asks every resolver of the configuration, or of the system; without DNS production fails and a sandbox is warned. */
export const checkDns: Check = async ({ config }) => {
  const servers = config.dnsServers.length > 0 ? config.dnsServers : getServers()
  const source = config.dnsServers.length > 0 ? 'GATEWAY_DNS_SERVERS' : 'the system'
  // A sandbox has a sample site of its own and is useful without a network.
  const level = config.mode === 'production' ? fail : warn
  if (servers.length === 0)
    return [
      level('dns', 'no DNS server is known', 'Set GATEWAY_DNS_SERVERS, or configure the system resolver.'),
    ]
  return Promise.all(
    servers.map(async (server) => {
      const code = await probeDns(server)
      return code === undefined
        ? ok('dns', `${server} answers (from ${source})`)
        : level(
            'dns',
            `${server} does not answer (${code}, from ${source})`,
            'Outbound requests cannot resolve names: check the network, or set GATEWAY_DNS_SERVERS to servers that answer.',
          )
    }),
  )
}

async function probeDns(server: string): Promise<string | undefined> {
  const resolver = new Resolver({ timeout: DNS_TIMEOUT_MS, tries: 1 })
  try {
    resolver.setServers([server])
    await resolver.resolve4(PROBE_NAME)
    return undefined
  } catch (thrown) {
    const code = errorCode(thrown) ?? 'error'
    return NO_ANSWER.has(code) ? code : undefined
  }
}

/** Tries to listen where the gateway would, and says who is there already. */
export const checkPort: Check = async ({ config: { host, port }, running }) => {
  const check = 'port'
  if (port === 0) return [ok(check, 'PORT=0: a free port is picked at every start')]
  const code = await tryListening(port, host)
  if (code === undefined) return [ok(check, `${port} on ${host} is free`)]
  if (code === 'EADDRINUSE')
    return running !== undefined && new URL(running.url).port === String(port)
      ? [ok(check, `${port} on ${host} is in use by this gateway (process ${running.pid})`)]
      : [fail(check, `${port} on ${host} is taken by another process`, 'Stop that one, or set PORT.')]
  if (code === 'EACCES')
    return [fail(check, `this user may not listen on port ${port}`, 'Set PORT to a number above 1023.')]
  return [
    fail(check, `${host}:${port} cannot be listened on (${code})`, 'Set HOST to an address of this machine.'),
  ]
}

function tryListening(port: number, host: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', (error) => resolve(errorCode(error) ?? 'error'))
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(undefined)))
  })
}

/** Asks the running gateway, and the public address where one is configured, whether they answer. */
export const checkBaseUrl: Check = async ({ config, running }) => {
  const findings: Finding[] = []
  if (running === undefined)
    findings.push(warn('gateway', 'not running on this data directory', 'Start it: agent-gateway serve'))
  else
    findings.push(
      await probeGateway('gateway', running.url, `Look at its log, or restart process ${running.pid}.`),
    )
  if (config.baseUrl !== undefined)
    findings.push(
      await probeGateway(
        'base url',
        config.baseUrl,
        'GATEWAY_BASE_URL is what documents and receipts point to: check DNS, proxy and certificate, and that the gateway runs.',
      ),
    )
  return findings
}

async function probeGateway(check: string, url: string, todo: string): Promise<Finding> {
  try {
    const response = await fetch(`${url}/healthz`, {
      redirect: 'manual',
      signal: AbortSignal.timeout(HTTP_TIMEOUT_MS),
    })
    await response.body?.cancel()
    return response.status === 200 && response.headers.get('content-type')?.includes('json')
      ? ok(check, `${url} answers`)
      : fail(check, `${url} answers, but not like an Agent Gateway (status ${response.status})`, todo)
  } catch (thrown) {
    const isTimeout = thrown instanceof Error && thrown.name === 'TimeoutError'
    return fail(
      check,
      `${url} does not answer (${isTimeout ? 'timeout' : (errorCode(thrown) ?? 'error')})`,
      todo,
    )
  }
}

/** Says which ports outbound requests may use, and warns of any but 443. */
export const checkEgress: Check = async ({ config }) => {
  const ports = config.egressPorts.join(', ')
  const findings = [
    config.egressPorts.every((port) => port === 443)
      ? ok('egress ports', ports)
      : warn(
          'egress ports',
          ports,
          'Only 443 is usual: keep the others out of GATEWAY_EGRESS_PORTS unless they are needed.',
        ),
  ]
  if (config.allowPrivateCidrs.length > 0)
    findings.push(
      warn(
        'egress ranges',
        `credentials may be granted private targets in ${config.allowPrivateCidrs.join(', ')}`,
        'Empty GATEWAY_UNSAFE_ALLOW_PRIVATE_CIDRS unless an upstream really lives there; nothing without a grant reaches them.',
      ),
    )
  return findings
}
