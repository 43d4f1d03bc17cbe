// The list of variables is src/app/variables.ts: whatever deploy/ says of one has to be there.
import { globSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { loadConfig } from '../../../src/app/config.ts'
import { describeUnknownVariables } from '../../../src/app/unknown-variables.ts'
import { configurationVariables } from '../../../src/app/documented-variables.ts'

const root = new URL('../../../deploy/', import.meta.url).pathname
const read = (path: string) => readFileSync(root + path, 'utf8')
const paths = globSync(
  ['{compose,helm,image,kubernetes,proxies,systemd}/**/*.*', '{compose,image,proxies}/*', 'README.md'],
  { cwd: root },
).filter((path) => /\.\w+$|Containerfile$|Caddyfile$/.test(path))

type Names = Readonly<Record<string, string | undefined>>
interface Pod {
  readonly env: readonly { readonly name: string; readonly value?: string; readonly valueFrom?: unknown }[]
  readonly envFrom: unknown
}

/** What each of them gives the gateway. Of a secret the value is elsewhere. */
const composed = (path: string) =>
  (
    parse(read(path)) as {
      services: { gateway: { env_file: unknown; environment: Names; ulimits?: unknown } }
    }
  ).services.gateway
const compose = (path: string): Names => composed(path).environment
const image = Object.fromEntries(
  [...read('image/Containerfile').matchAll(/^(?:ENV| {4}) ?(\w+)=(\S+)(?: \\)?$/gm)].map(
    ([, name, value]) => [name!, value],
  ),
)
const [gateway] = (
  parse(read('kubernetes/base/deployment.yaml')) as { spec: { template: { spec: { containers: Pod[] } } } }
).spec.template.spec.containers
const settings = (parse(read('kubernetes/base/settings.yaml')) as { data: Names }).data
const kubernetes: Names = {
  ...settings,
  ...Object.fromEntries(gateway!.env.map(({ name, value }) => [name, value])),
}
const unit = (path: string): Names =>
  Object.fromEntries(
    [...read(path).matchAll(/^#?Environment=(.+)$/gm)]
      .flatMap(([, line]) => line!.split(' '))
      .map((assignment) => assignment.split(/=(.*)/) as [string, string]),
  )
const envFile: Names = Object.fromEntries(
  [...read('systemd/gateway.env').matchAll(/^#?([A-Z_\d]+)=(.*)$/gm)].map(([, name, value]) => [
    name!,
    value!,
  ]),
)
const UNITS = ['systemd/agent-gateway.service', 'systemd/agent-gateway@.service']
const GIVEN: readonly (readonly [string, Names])[] = [
  ['image/Containerfile', image],
  ['compose/gateway.yaml', compose('compose/gateway.yaml')],
  ['compose/postgres.yaml', compose('compose/postgres.yaml')],
  ['kubernetes/base', kubernetes],
  ['systemd/gateway.env', envFile],
  ...UNITS.map((path) => [path, unit(path)] as const),
]

const known = configurationVariables().map(({ name }) => name)
const isKnown = (name: string) => known.includes(name) || /^GATEWAY_RPC_\d+$/.test(name)

describe('deploy/', () => {
  it('has a file of every kind', () => {
    expect(new Set(paths.map((path) => path.split('/')[0]))).toEqual(
      new Set(['README.md', 'compose', 'helm', 'image', 'kubernetes', 'proxies', 'systemd']),
    )
  })

  it.each(paths)('%s names no variable that the gateway does not read', (path) => {
    const words = read(path).match(/\bGATEWAY_[A-Z\d_]+\b/g) ?? []
    expect(describeUnknownVariables(Object.fromEntries(words.map((word) => [word, 'named'])))).toEqual([])
  })

  it.each(GIVEN)('%s gives the gateway variables that it reads', (_, names) => {
    expect(Object.keys(names).length).toBeGreaterThan(1)
    // NODE_ENV is read by packages, and the database's password is kept from the gateway.
    const others = new Set(['NODE_ENV', 'DATABASE_PASSWORD'])
    expect(Object.keys(names).filter((name) => !others.has(name) && !isKnown(name))).toEqual([])
  })

  it('gives settings that a gateway in production takes', () => {
    const secrets = {
      GATEWAY_DATABASE_URL: 'postgres://gateway:password@database/gateway',
      GATEWAY_OPERATOR_KEY: '',
    }
    expect(loadConfig({ ...image, ...kubernetes, ...secrets })).toMatchObject({
      mode: 'production',
      host: '0.0.0.0',
      port: 8402,
      dataDir: '/var/lib/agent-gateway',
      authorityKeyFile: '/etc/agent-gateway/keys/authority.jwk',
      trustProxy: 1,
    })
    const fromUnit = { ...unit(UNITS[0]!), ...envFile, GATEWAY_DATABASE_URL: secrets.GATEWAY_DATABASE_URL }
    expect(loadConfig(fromUnit)).toMatchObject({ mode: 'production', trustProxy: 1 })
  })

  it.each(['compose/gateway.yaml', 'compose/postgres.yaml'])(
    '%s gives the gateway every setting of .env, and what it names itself from there, too',
    (path) => {
      expect(composed(path).env_file).toEqual([{ path: '.env', required: false }])
      // What stands here wins over the file: a fixed value, or one of another name, could not be set there.
      const others = Object.entries(compose(path)).filter(
        ([name]) => !['GATEWAY_BASE_URL', 'GATEWAY_DATABASE_URL', 'DATABASE_PASSWORD'].includes(name),
      )
      expect(others.filter(([name, value]) => !value!.startsWith(`\${${name}:-`))).toEqual([])
      expect(others.map(([name]) => name)).toContain('GATEWAY_OPERATOR_KEY')
      // It is in the address of the database, and in no variable that a library of a token would see.
      expect(compose(path)['DATABASE_PASSWORD'] ?? '').toBe('')
      expect(
        loadConfig({ GATEWAY_BASE_URL: 'https://gateway.example.com', GATEWAY_OPERATOR_KEY: '' }),
      ).toMatchObject({ operatorKey: undefined })
    },
  )

  it('kubernetes/base gives the gateway every entry of its secret, and does not start without the two that it wants', () => {
    // What stands later wins: a secret over a setting.
    expect(gateway!.envFrom).toEqual([
      { configMapRef: { name: 'agent-gateway-settings' } },
      { secretRef: { name: 'agent-gateway' } },
    ])
    expect(gateway!.env.filter(({ valueFrom }) => valueFrom !== undefined)).toEqual(
      ['GATEWAY_DATABASE_URL', 'GATEWAY_OPERATOR_KEY'].map((name) => ({
        name,
        valueFrom: { secretKeyRef: { name: 'agent-gateway', key: name } },
      })),
    )
  })

  it('has one unit twice: replicas differ by their port, the folder of their socket, and a file of settings for each', () => {
    const [one, replica] = UNITS.map((path) =>
      read(path)
        .split('\n')
        .filter((line) => !line.startsWith('#')),
    )
    const own = 'EnvironmentFile=-/etc/agent-gateway/%i.env'
    // The later file has the last word.
    expect(replica![replica!.indexOf(own) - 1]).toBe('EnvironmentFile=/etc/agent-gateway/gateway.env')
    const differing = replica!.filter((line) => line !== own && !one!.includes(line))
    expect(differing.map((line) => line.replace(/PORT=%i | on port %i|-%i/, ''))).toEqual(
      one!.filter((line) => !replica!.includes(line)),
    )
    expect(differing).toHaveLength(3)
  })

  it('has Caddy speak to the gateway in one way, which the long tests try', () => {
    const transports = ['proxies/Caddyfile', 'compose/Caddyfile'].map((path) =>
      [...read(path).matchAll(/transport http \{([^}]*)\}/g)].map(([, block]) =>
        block!
          .split('\n')
          .map((line) => line.trim())
          .filter((line) => line !== '' && !line.startsWith('#')),
      ),
    )
    expect(transports).toEqual([
      [['dial_timeout 5s', 'keepalive off']],
      [['dial_timeout 5s', 'keepalive off']],
    ])
  })

  it('has no core dump of the gateway written, wherever its samples can say so', () => {
    for (const path of UNITS) expect(read(path), path).toMatch(/^LimitCORE=0$/m)
    for (const path of ['compose/gateway.yaml', 'compose/postgres.yaml'])
      expect(composed(path), path).toMatchObject({ ulimits: { core: 0 } })
  })

  it('waits for the drain everywhere, and never forbids V8 to write its code', () => {
    const waits = [
      ...['compose/gateway.yaml', 'compose/postgres.yaml'].map((path) =>
        /stop_grace_period: (\d+)s/.exec(read(path)),
      ),
      /terminationGracePeriodSeconds: (\d+)/.exec(read('kubernetes/base/deployment.yaml')),
      ...UNITS.map((path) => /^TimeoutStopSec=(\d+)$/m.exec(read(path))),
    ].map((match) => Number(match?.[1]))
    // Three seconds of grace, and twice as long as the gateway waits for calls (DRAIN_MS).
    for (const seconds of waits) expect(seconds).toBeGreaterThanOrEqual(3 + 2 * 35)
    for (const path of UNITS) expect(read(path)).not.toMatch(/^MemoryDenyWriteExecute/m)
  })
})
