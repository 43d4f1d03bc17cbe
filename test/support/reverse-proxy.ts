// A real nginx, Caddy or HAProxy with the sample of deploy/proxies, of which the name, the ports and the certificate alone are replaced.
import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Leaf } from './ca.ts'
import { untilOpen } from './open-port.ts'
import { finish, start } from './process.ts'
import { removeFolder } from './remove-folder.ts'

export const PROXIES = ['nginx', 'caddy', 'haproxy'] as const
export type ProxyName = (typeof PROXIES)[number]

/** Where the samples look for the gateway. */
const GATEWAY = '127.0.0.1:8402'
const SAMPLES = new URL('../../deploy/proxies/', import.meta.url)

interface Recipe {
  readonly sample: string
  readonly binary: string
  readonly check: (file: string) => readonly string[]
  readonly run: (file: string) => readonly string[]
  /** Of the sample, and what stands in its place. */
  readonly replacements: (place: Place) => Readonly<Record<string, string>>
  /** What the sample says of a replica, and what is put before it for another. */
  readonly replica: { readonly line: string; readonly another: (port: number) => string }
}

interface Place {
  readonly folder: string
  readonly port: number
  /** Of each replica behind it. */
  readonly gatewayPorts: readonly number[]
}

const RECIPES: Readonly<Record<ProxyName, Recipe>> = {
  nginx: {
    sample: 'nginx.conf',
    binary: '/usr/sbin/nginx',
    check: (file) => ['-t', '-e', 'stderr', '-c', file],
    run: (file) => ['-e', 'stderr', '-c', file],
    replacements: ({ folder, port }) => ({
      'listen 443 ': `listen 127.0.0.1:${port} `,
      '/var/log/nginx/agent-gateway.log': join(folder, 'error.log'),
    }),
    replica: { line: `server ${GATEWAY};\n`, another: (port) => `  server 127.0.0.1:${port};\n` },
  },
  caddy: {
    sample: 'Caddyfile',
    binary: '/usr/bin/caddy',
    check: (file) => ['validate', '--adapter', 'caddyfile', '--config', file],
    run: (file) => ['run', '--adapter', 'caddyfile', '--config', file],
    replacements: ({ port }) => ({
      'gateway.example.com {': `https://localhost:${port} {\n\tbind 127.0.0.1`,
      // It would listen on port 80 to lead to this one.
      'admin off': 'admin off\n\tauto_https disable_redirects',
    }),
    replica: { line: `${GATEWAY} {`, another: (port) => `127.0.0.1:${port} ` },
  },
  haproxy: {
    sample: 'haproxy.cfg',
    binary: '/usr/sbin/haproxy',
    check: (file) => ['-c', '-f', file],
    run: (file) => ['-db', '-f', file],
    replacements: ({ port }) => ({
      'bind :443 ': `bind 127.0.0.1:${port} `,
      'gateway.example.com': `localhost:${port}`,
      // On a busy machine a replica that serves all the same is late for two checks: here none is ever down.
      'inter 2s fall 2 ': 'inter 2s fall 30 ',
      // Nobody but root may become another.
      ...(process.getuid?.() === 0
        ? {}
        : { '  chroot /var/lib/haproxy\n  user haproxy\n  group haproxy\n': '' }),
    }),
    replica: {
      line: `server gateway1 ${GATEWAY} check inter 2s fall 30 rise 1\n`,
      another: (port) => `server gateway2 127.0.0.1:${port} check inter 2s fall 30 rise 1\n`,
    },
  },
}

export interface ReverseProxy {
  /** What its own check said of the sample. */
  readonly checked: { readonly code: number | null; readonly said: string }
  /** Starts it; resolves when it takes connections. */
  start(): Promise<void>
  /** Of the process that was started. */
  pid(): number
  stop(): Promise<void>
}

/** @param place `port`: of the proxy; `gatewayPorts`: of the replicas behind it; all of 127.0.0.1 */
export async function prepareReverseProxy(
  name: ProxyName,
  place: Omit<Place, 'folder'> & { readonly leaf: Leaf },
): Promise<ReverseProxy> {
  const recipe = RECIPES[name]
  const [first, ...others] = place.gatewayPorts
  const folder = await mkdtemp(join(tmpdir(), `gateway-${name}-`))
  const pem = {
    fullchain: place.leaf.cert,
    privkey: place.leaf.key,
    haproxy: `${place.leaf.cert}\n${place.leaf.key}`,
  }
  for (const [part, text] of Object.entries(pem)) await writeFile(join(folder, `${part}.pem`), text)
  const sample = await readFile(new URL(recipe.sample, SAMPLES), 'utf8')
  const text = replaceEach(sample, {
    ...recipe.replacements({ ...place, folder }),
    [recipe.replica.line]: `${others.map(recipe.replica.another).join('')}${recipe.replica.line}`,
    [GATEWAY]: `127.0.0.1:${first}`,
    '/etc/agent-gateway/tls/': `${folder}/`,
  })
  const file = await (name === 'nginx'
    ? writeNginx(folder, text)
    : writeTo(join(folder, recipe.sample), text))
  // Caddy keeps what it knows of certificates in the home folder.
  const options = { env: { PATH: process.env['PATH'], HOME: folder }, cwd: folder }
  const { code, stdout, stderr } = await finish(recipe.binary, recipe.check(file), options)
  let running: ReturnType<typeof start> | undefined
  return {
    checked: { code, said: stdout + stderr },
    async start() {
      running = start(recipe.binary, recipe.run(file), options)
      const { child, stderr: said } = running
      await untilOpen(place.port, () => {
        if (child.exitCode !== null) throw new Error(`${name} ended: ${said()}`)
      })
    },
    pid: () => running!.child.pid!,
    async stop() {
      running?.kill('SIGTERM')
      await running?.ended
      await removeFolder(folder)
    },
  }
}

/** A text that the sample does not have would leave the test with something else than the sample. */
function replaceEach(text: string, replacements: Readonly<Record<string, string>>): string {
  return Object.entries(replacements).reduce((rest, [old, by]) => {
    if (!rest.includes(old)) throw new Error(`the sample does not hold \`${old}\``)
    return rest.replaceAll(old, by)
  }, text)
}

/** The sample is a part of `http`; what stands around it is Debian's in short. */
async function writeNginx(folder: string, site: string): Promise<string> {
  const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  await mkdir(join(folder, 'temp'))
  await writeTo(join(folder, 'site.conf'), site)
  return writeTo(
    join(folder, 'nginx.conf'),
    [
      'daemon off;',
      'worker_processes 1;',
      `pid ${join(folder, 'nginx.pid')};`,
      ...(process.getuid?.() === 0 ? ['user root;'] : []),
      'events { worker_connections 256; }',
      'http {',
      ...kinds.map((kind) => `  ${kind}_temp_path ${join(folder, 'temp', kind)};`),
      `  include ${join(folder, 'site.conf')};`,
      '}',
    ].join('\n'),
  )
}

async function writeTo(file: string, text: string): Promise<string> {
  await writeFile(file, text)
  return file
}
