// The process that has the library of a token in it: machine code of somebody else, which may hang, crash or read whatever its
// process holds. The gateway's secrets are not here, but for the PIN and what the key agreed on last.
import { createRequire } from 'node:module'
import { Worker } from 'node:worker_threads'
import type { Pkcs11Package } from './cryptoki.ts'
import { type Answer, type Request, TokenFault } from './messages.ts'
import { openToken, type Token } from './token.ts'

let token: Token | undefined

process.on('message', (message) => {
  let answer: Answer
  try {
    answer = { ok: true, bytes: take(message as Request) }
  } catch (thrown) {
    const failure =
      thrown instanceof TokenFault ? thrown.failure : ({ reason: 'unreachable', code: 'a fault' } as const)
    answer = { ok: false, ...failure }
  }
  process.send?.(answer, undefined, undefined, () => {})
})

function take(request: Request): Uint8Array {
  if ('open' in request) {
    token = openToken(loadPackage(), request.open, request.pin)
    return token.point
  }
  if (!token) throw new TokenFault('unreachable', 'no token is open')
  return token.agree(Buffer.from(request.agree))
}

function loadPackage(): Pkcs11Package {
  try {
    return createRequire(import.meta.url)('pkcs11js') as Pkcs11Package
  } catch {
    throw new TokenFault('not_installed', 'pkcs11js')
  }
}

process.on('disconnect', () => process.exit())
// A thread that waits in the library does not hear that: another one looks whether the gateway is still the parent.
new Worker(
  `const { workerData } = require('node:worker_threads')
setInterval(() => process.ppid !== workerData && process.kill(process.pid, 'SIGKILL'), 1000)`,
  {
    eval: true,
    workerData: Number(process.argv[2]),
    resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 },
  },
).unref()
// A Ctrl-C in a terminal goes to every process of it: the gateway drains first, and ends this one then.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
