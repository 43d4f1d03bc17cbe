// Checks Kubernetes objects as the API server does under strict validation: unknown fields, wrong types and missing ones. The validators of
// kubernetes-models let unknown fields pass, so its types are asked: an object literal that has a field too many does not compile. What no type
// knows of an ipBlock is asked here.
import { BlockList, isIP } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { parseAllDocuments } from 'yaml'

const root = fileURLToPath(new URL('../../', import.meta.url))
/** Nothing is written: the file exists for the compiler alone, beside those that may import the package. */
const VIRTUAL = join(root, 'test/support/kubernetes-objects.virtual.ts')

/** @param manifests YAML by name. @returns a sentence for each fault, `name: object: message` */
export function checkKubernetesObjects(manifests: Readonly<Record<string, string>>): string[] {
  const objects = Object.entries(manifests).flatMap(([name, text]) =>
    // As the tools of Kubernetes do, where 0440 is an octal.
    parseAllDocuments(text, { version: '1.1' }).map((document) => {
      if (document.errors.length > 0) throw new Error(`${name}: ${document.errors[0]!.message}`)
      return { name, object: document.toJS() as { apiVersion: string; kind: string } }
    }),
  )
  const lines = objects.flatMap(({ object }, i) => [
    `import type { I${object.kind} as T${i} } from 'kubernetes-models/${object.apiVersion}'`,
    `export const o${i}: T${i} = ${JSON.stringify(object, undefined, 1)}`,
  ])
  const source = lines.join('\n')
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ES2024,
    types: [],
  }
  const host = ts.createCompilerHost(options)
  const { fileExists, readFile, getSourceFile } = host
  host.fileExists = (file) => file === VIRTUAL || fileExists(file)
  host.readFile = (file) => (file === VIRTUAL ? source : readFile(file))
  host.getSourceFile = (file, ...rest) =>
    file === VIRTUAL
      ? ts.createSourceFile(file, source, ts.ScriptTarget.ES2024)
      : getSourceFile(file, ...rest)
  const program = ts.createProgram([VIRTUAL], options, host)
  const file = program.getSourceFile(VIRTUAL)!
  const faults = [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)].map(
    ({ messageText, start = 0 }) => {
      const before = source.slice(0, start)
      const [, index = '0'] = [...before.matchAll(/^export const o(\d+)/gm)].at(-1) ?? []
      const { name, object } = objects[Number(index)]!
      return `${name}: ${object.kind}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`
    },
  )
  const ofBlocks = objects.flatMap(({ name, object }) =>
    ipBlocksIn(object)
      .flatMap(checkIpBlock)
      .map((fault) => `${name}: ${object.kind}: ${fault}`),
  )
  return [...faults, ...ofBlocks]
}

interface IpBlock {
  readonly cidr: string
  readonly except?: readonly string[]
}

function ipBlocksIn(value: unknown): IpBlock[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) =>
    name === 'ipBlock' ? [inner as IpBlock] : ipBlocksIn(inner),
  )
}

/** As ValidateIPBlock of the API server. @returns a sentence for each fault */
function checkIpBlock({ cidr, except = [] }: IpBlock): string[] {
  const whole = parseCidr(cidr)
  if (whole === undefined) return [`ipBlock: ${cidr} is no network, or one of IPv4-mapped addresses`]
  return except
    .filter((text) => {
      const part = parseCidr(text)
      if (part?.family !== whole.family || part.bits <= whole.bits) return true
      const network = new BlockList()
      network.addSubnet(whole.address, whole.bits, whole.family)
      return !network.check(part.address, part.family)
    })
    .map((text) => `ipBlock: except ${text} must be a strict subset of ${cidr}`)
}

/** Of an IPv4-mapped address the API server's language sees the IPv4 address, which is in no network of IPv6. */
function parseCidr(text: string) {
  const [, address = '', length = ''] = /^([\da-f.:]+)\/(\d{1,3})$/i.exec(text) ?? []
  const version = isIP(address)
  const bits = Number(length)
  if (version === 0 || bits > (version === 4 ? 32 : 128)) return undefined
  if (version === 6 && IPV4_MAPPED.check(address, 'ipv6')) return undefined
  return { address, bits, family: version === 4 ? ('ipv4' as const) : ('ipv6' as const) }
}

const IPV4_MAPPED = new BlockList()
IPV4_MAPPED.addSubnet('::ffff:0:0', 96, 'ipv6')
