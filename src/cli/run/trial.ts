// Tries whether a program honours the proxy and its certificates: it is made to call an address that only a door of this process answers. Nothing
// leaves the machine: the name is registered to nobody (RFC 6761), so that a program which goes past the proxy reaches nothing.
import { execFile } from 'node:child_process'
import type { AddressInfo } from 'node:net'
import { SANDBOX_HOST } from '../../egress/target.ts'
import { GatewayError } from '../../core/errors.ts'
import { createProxyDoor } from '../../doors/proxy/index.ts'
import { createRunAuthority } from '../../interception/authority.ts'
import { CAN_PROVE_CALLER, isOfProcess } from './caller.ts'
import { notStarted } from './child.ts'
import { findProgram, judgeTrial, type KnownProgram, type Trial, type TrialFinding } from './programs.ts'
import { makeRunFolder } from './trust.ts'
import {
  childEnvironment,
  javaVariables,
  nodeVariables,
  proxyVariables,
  trustVariables,
} from './variables.ts'

/** Some load their own code for seconds at the first start of a day. */
const TRIAL_MS = 20_000

/** @throws {CommandFailure} where there is no such program, or this user may not run it */
export async function tryProgram(
  program: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<readonly TrialFinding[]> {
  const known = findProgram(program)
  return judgeTrial(
    program,
    known,
    known?.call && (await makeTrial(program, known, known.call(`https://${SANDBOX_HOST}/`), env)),
  )
}

async function makeTrial(
  program: string,
  known: KnownProgram,
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<Trial> {
  const seen = { usedProxy: false, trusted: false }
  const authority = createRunAuthority(Date.now)
  const nothing = () => Promise.reject(new GatewayError('target_blocked', 'A trial leads nowhere.'))
  const door = createProxyDoor({
    async identify(token, address, port) {
      seen.usedProxy = true
      // As in a run: a program that sends no password before it is asked has to be asked, where nothing else says whose it is.
      const { port: own } = door.server.address() as AddressInfo
      const isOwn = port !== undefined && (await isOfProcess({ address, port }, own, process.pid))
      if (token === undefined && !isOwn) throw new GatewayError('proxy_identity_required', 'This is a trial.')
      return {
        id: 'trial',
        unknown: 'deny',
        covers: (host) => host === SANDBOX_HOST,
        async relay(_req, res) {
          seen.trusted = true
          res.writeHead(200, { 'content-type': 'application/json' }).end('{}')
        },
      }
    },
    authority,
    outside: { connect: nothing, connectTls: nothing },
    targets: { ports: [443], allowSandboxName: true },
    watch: { passed: () => {}, refused: () => {} },
    baseUrl: 'http://localhost',
    now: Date.now,
  })
  const folder = await makeRunFolder(authority.trusted(), env)
  try {
    await new Promise<void>((resolve) => door.server.listen(0, '127.0.0.1', resolve))
    const { port } = door.server.address() as AddressInfo
    const proxy = `http://agent:trial@127.0.0.1:${port}`
    const variables = {
      ...proxyVariables(proxy),
      ...trustVariables(folder),
      ...nodeVariables(folder, env),
      ...(CAN_PROVE_CALLER ? javaVariables(new URL(proxy), folder, env) : {}),
      ...known.env,
    }
    await call(
      known.caller?.(program) ?? program,
      args,
      childEnvironment(env, variables, { isSandboxed: false }),
    )
    return seen
  } finally {
    await door.close()
    await folder.remove()
  }
}

/** How it ends says nothing: what it was answered is no repository, no registry and no page. */
function call(program: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    execFile(program, [...args], { env, timeout: TRIAL_MS }, (error) => {
      // Of a program that ran there is an exit code or a signal instead.
      if (error && 'syscall' in error) reject(error)
      else resolve()
    }).stdin?.end()
  }).catch((thrown: unknown) => {
    throw notStarted(program, thrown)
  })
}
