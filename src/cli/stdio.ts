// `stdio`: MCP for a desktop assistant. A bridge to a running gateway, else a sandbox in this process.
// stdout carries the protocol and nothing else.
import { fstatSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import { loadConfig } from '../app/config.ts'
import type { Config } from '../core/config.ts'
import { serveMcpStdio } from '../doors/mcp/stdio.ts'
import { parseToken } from '../lib/tokens.ts'
import { refusePlainHttp } from './client.ts'
import { CommandFailure, Exit } from './exit.ts'
import { findRunning } from '../app/running.ts'
import { startEmbeddedSandbox } from './embedded.ts'

/** The output is dropped for a client that reads no more. */
const FLUSH_MS = 5000
/** How often it is looked whether the process that started this one is alive, once its input has ended. */
const PARENT_MS = 1000

/** `stdio`: MCP for a desktop assistant. stdout carries the protocol and nothing else. */
export function addStdioCommand(program: Command): void {
  program
    .command('stdio')
    .description('speak MCP on stdin and stdout, for desktop assistants')
    .addHelpText(
      'after',
      `
Bridges to GATEWAY_BASE_URL, or to the gateway that owns GATEWAY_DATA_DIR. GATEWAY_TOKEN_FILE names a file with the token that every
call is made with (or GATEWAY_TOKEN is it): a capability for an agent, a service key to operate. Without a gateway to bridge to, a sandbox runs in this
process, on GATEWAY_DATA_DIR (or on a directory that is gone afterwards where that cannot be written).
Tool names are listed with underscores, which every client accepts, or with GATEWAY_MCP_NAMES=dotted with dots.
It ends when stdin ends.

Example, in the configuration of a client:
  {"command": "agent-gateway", "args": ["stdio"],
   "env": {"GATEWAY_BASE_URL": "http://localhost:8402", "GATEWAY_TOKEN_FILE": "/home/me/agent.cap"}}`,
    )
    .action(async () => {
      const config = loadConfig(process.env)
      const token = config.tokenFile === undefined ? config.token : await readToken(config.tokenFile)
      const url = config.baseUrl ?? (await findRunning(config.dataDir))?.url
      if (url === undefined) return serveEmbedded(config, token)
      const mcpUrl = config.mcpUrl ?? `${url}/mcp`
      if (token !== undefined) refusePlainHttp(mcpUrl, {})
      process.stderr.write(`agent-gateway stdio: bridge to ${mcpUrl}\n`)
      const names = config.mcpNames === 'dotted' ? 'dotted' : 'portable'
      await Promise.race([serveMcpStdio({ target: { url: mcpUrl }, token, names }), hostGone()])
      await flush()
      // Nothing is left to answer; a connection kept for later must not keep the process.
      process.exit(Exit.ok)
    })
}

async function readToken(file: string): Promise<string> {
  let text: string
  try {
    text = (await readFile(file, 'utf8')).trim()
  } catch {
    throw new CommandFailure(
      Exit.config,
      `GATEWAY_TOKEN_FILE: ${file} cannot be read: it does not exist, or this user may not read it.`,
    )
  }
  if (parseToken(text) === undefined)
    throw new CommandFailure(
      Exit.config,
      `GATEWAY_TOKEN_FILE: ${file} holds no whole token (agw_cap_… or agw_sk_…, one line).`,
    )
  return text
}

async function serveEmbedded(wanted: Config, token: string | undefined): Promise<void> {
  if (wanted.mode === 'production')
    throw new CommandFailure(
      Exit.unreachable,
      'No gateway to bridge to: start it with `agent-gateway serve`, or set GATEWAY_BASE_URL. (Only a sandbox runs embedded.)',
    )
  const gone = hostGone()
  const sandbox = await startEmbeddedSandbox(wanted)
  process.stderr.write(
    `agent-gateway stdio: SANDBOX in this process, test money only; data in ${sandbox.config.dataDir}, also at ${sandbox.url}\n`,
  )

  await Promise.race([serveMcpStdio({ target: { door: sandbox.gateway.mcp }, token }), gone])
  await sandbox.close()
  await flush()
  process.exit(Exit.ok)
}

/**
 * Resolves when the assistant has no use for answers any more: it said so by a signal, it reads no more, or it died. The end of its
 * input alone is none: what it asked for is still answered.
 */
function hostGone(): Promise<void> {
  const parent = process.ppid
  let hasEnded = false
  process.stdin.once('end', () => (hasEnded = true))
  // A log that nobody reads is no reason to end.
  process.stderr.on('error', () => {})
  return new Promise((resolve) => {
    const end = () => resolve()
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.once(signal, end)
    for (const stream of [process.stdin, process.stdout]) stream.on('error', end)
    // The launcher was killed.
    process.once('disconnect', end)
    const watch = setInterval(() => {
      if (hasEnded && process.ppid !== parent && !fstatSync(1).isFile()) end()
    }, PARENT_MS)
    watch.unref()
  })
}

/** The last answers may still be on their way into a pipe, and an exit would cut them off. */
const flush = () =>
  Promise.race([
    new Promise<void>((resolve) => process.stdout.write('', () => resolve())),
    sleep(FLUSH_MS, undefined, { ref: false }),
  ])
