#!/usr/bin/env node
// bin `agent-gateway`: starts the command line on a Node that is new enough. Decides nothing else.
// It runs on old Nodes too, so it imports nothing newer than ES modules; everything modern is behind the dynamic import.
import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { constants } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'

/** node:sqlite without a flag and undici 8 need this one. */
const OLDEST = [22, 19] as const

/**
 * V8 sizes its young generation by the machine; a gateway is nearly as fast with 4 MiB and holds 100 MB less. What survives in
 * that is so little that one thread clears it with a seventh less CPU than several that share it out (`npm start` too).
 */
const HEAP = ['--max-semi-space-size=4', '--no-parallel-scavenge']

/**
 * A thread that compiles beside this one may wait for this one to collect garbage, and an exit waits for that thread: both then wait for ever,
 * seldom and on a busy machine (https://github.com/nodejs/node/issues/54918). The compiler that was seen in it is quick and needs no such thread.
 */
const ENDS_FOR_CERTAIN = '--no-concurrent-sparkplug'

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) {
  setFlagsFromString(ENDS_FOR_CERTAIN)
  silenceSqliteWarning()
  await import('./index.ts')
} else runOnBundledNode()

/** Node 22 warns of node:sqlite at every command; nobody who reads the warning can do anything about it. */
function silenceSqliteWarning(): void {
  const emitWarning = process.emitWarning.bind(process) as (...args: unknown[]) => void
  process.emitWarning = (...args: unknown[]) => {
    if (args[1] !== 'ExperimentalWarning' || !String(args[0]).startsWith('SQLite')) emitWarning(...args)
  }
}

function runOnBundledNode(): void {
  const node = findBundledNode()
  if (node === undefined) {
    process.stderr.write(
      `agent-gateway needs Node ${OLDEST.join('.')} or newer and this is ${process.versions.node}: install a newer Node, ` +
        `or the package node-${process.platform}-${process.arch} beside it where that exists (npm ci without --omit=optional does).\n`,
    )
    process.exitCode = 1
    return
  }
  // The IPC channel carries nothing: it closes when this process dies, however it dies, and the child then ends too.
  const child = spawn(node, [...HEAP, fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal))
  child.on('error', () => {
    process.stderr.write(`agent-gateway: could not run ${node}. Install Node ${OLDEST.join('.')} or newer.\n`)
    process.exitCode = 1
  })
  child.on('exit', (code, signal) => {
    // The shell's convention for a death by signal; raising it here again would race with the forwarding above.
    process.exit(code ?? 128 + (signal ? constants.signals[signal] : 1))
  })
}

function findBundledNode(): string | undefined {
  const name = `node-${process.platform}-${process.arch}`
  try {
    return join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), 'bin', 'node')
  } catch {
    return undefined
  }
}
