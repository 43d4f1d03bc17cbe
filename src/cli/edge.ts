// `edge`: which DNS record lets the edge act for a merchant, and what is wrong with the one that is there.
import type { Command } from 'commander'
import type { z } from 'zod'
import type { EdgeCheck } from '../../schemas/edge.ts'
import { edgeCheck } from '../../tools/edge-check.ts'
import { connect } from './client.ts'
import { Exit } from './exit.ts'
import { addConnectionOptions, type ConnectionOptions } from './options.ts'
import { formatValue, printJson, printLine } from './output.ts'

/** `edge check`: what a host's TXT records say of this gateway, resolver by resolver. */
export function addEdgeCommands(program: Command): void {
  const edge = program.command('edge').description('transactions forwarded to merchants who consent in DNS')

  addConnectionOptions(edge.command('check <host>'))
    .description(
      'say which TXT record authorizes this gateway, what every resolver finds, and why it is refused',
    )
    .addHelpText(
      'after',
      `
Asks every DNS server of the gateway anew, and never the host itself. The record names your account: calls of the edge to
that host are paid with your credits, from the moment it is published until it is removed (and at most 300 s longer).
Exit code 0: the host is authorized. 1: it is not, and the answer says what to do.

Example:
  agent-gateway edge check shop.example.com`,
    )
    .action(async (host: string, options: ConnectionOptions) => {
      const answer = await (await connect(options)).call(edgeCheck, { host })
      if (options.json) printJson(answer)
      else printCheck(answer)
      if (!answer.authorized) process.exitCode = Exit.failed
    })
}

function printCheck(answer: z.output<typeof EdgeCheck>): void {
  const { host, authorized, refusal, reachable } = answer
  printLine(
    `${formatValue(host)} is ${authorized ? 'authorized' : `NOT authorized (${formatValue(refusal)})`}`,
  )
  printLine(`  ${formatValue(answer.detail)}`)
  printLine('\nThe record that authorizes it:')
  printLine(`  ${formatValue(answer.name)}. 300 IN TXT "${formatValue(answer.expected)}"`)
  printLine('\nWhat the resolvers find there:')
  const width = Math.max(0, ...answer.found.map(({ resolver }) => resolver.length))
  for (const { resolver, status, records, ttl_seconds } of answer.found) {
    const texts =
      status === 'found'
        ? records.map((record) => `"${formatValue(record)}" (TTL ${formatValue(ttl_seconds)} s)`)
        : [status === 'absent' ? 'nothing' : 'no usable answer']
    for (const text of texts) printLine(`  ${formatValue(resolver).padEnd(width)}  ${text}`)
  }
  if (answer.found.length === 0) printLine('  (none was asked)')
  if (authorized) {
    printLine(`\nPaths    ${formatValue(answer.paths)}`)
    printLine(`Methods  ${formatValue(answer.methods)}`)
    printLine(`Until    ${answer.expires_at === null ? 'it is removed' : formatValue(answer.expires_at)}`)
  }
  if (!reachable.ok)
    printLine(
      `\nThe host itself leads to no public address (${formatValue(reachable.reason)}): calls are refused whatever the record says.`,
    )
}
