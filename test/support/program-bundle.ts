// The gateway and its command line, bundled once a run of the long tests: a process that starts from the bundle reads some dozens of files
// in place of more than a thousand, and takes little more than half the CPU time. Hundreds of them are started there.
import { cpSync, mkdirSync, mkdtempSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { removeFolder } from './remove-folder.ts'

const VARIABLE = 'GATEWAY_TEST_PROGRAMS'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** The programs, and the threads and processes that the gateway looks for beside itself. */
const ENTRIES = {
  cli: 'src/cli/index.ts',
  main: 'src/cli/main.ts',
  'loopback-gateway': 'test/support/loopback-gateway.ts',
  'credit-gateway': 'test/support/credit-gateway.ts',
  'store-worker': 'src/store/worker.ts',
  'aside-worker': 'src/store/sqlite/aside-worker.ts',
  'backup-worker': 'src/store/transfer/backup-worker.ts',
  'outcome-worker': 'src/outcomes/adapters/worker.ts',
  'search-worker': 'src/egress/adapters/search/worker.ts',
  'token-process': 'src/egress/adapters/key-services/pkcs11/process.ts',
} as const

export type Program = 'cli' | 'main' | 'loopback-gateway' | 'credit-gateway'

/** What stands at the root of the package and is looked for from there. */
const AT_ROOT = ['package.json', 'node_modules', 'skills', 'dist/site']

/** Bundled where this run has a bundle, else its source. */
export function programFile(name: Program): string {
  const folder = process.env[VARIABLE]
  return folder === undefined ? join(root, ENTRIES[name]) : join(folder, 'dist', `${name}.js`)
}

/** Global setup of vitest. */
export default async function setup(): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-programs-'))
  mkdirSync(join(folder, 'dist'))
  for (const path of AT_ROOT) symlinkSync(join(root, path), join(folder, path))
  // As a build has them, beside the code.
  cpSync(join(root, 'src/data/files'), join(folder, 'dist'), { recursive: true })
  // Not for those who only ask where a program is.
  const { build, stop } = await import('esbuild')
  await build({
    entryPoints: Object.fromEntries(Object.entries(ENTRIES).map(([name, path]) => [name, join(root, path)])),
    outdir: join(folder, 'dist'),
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node22',
    // Less to read at each start; names stay, for stack traces.
    minifyWhitespace: true,
    lineLimit: 120,
    // Native, optional, or large and seldom loaded: those come from where they are installed.
    external: [
      'sodium-native',
      'secp256k1',
      '@peculiar/x509',
      'reflect-metadata',
      '@google-cloud/kms',
      'unpdf',
    ],
    banner: {
      js: "import{createRequire as requireFrom}from'node:module';const require=requireFrom(import.meta.url);",
    },
    logLevel: 'error',
  })
  // Its process would stay with what it has read in memory.
  await stop()
  process.env[VARIABLE] = folder
  return () => removeFolder(folder)
}
