// The code of the contracts that a development node gets, from a file: of 80 MB of packages that hold it, it is 50 KB.
import { readFileSync } from 'node:fs'
import { dataFile } from '../data/file.ts'

/** Compiled code as an address has it, hex with 0x, and where the addresses of libraries go: byte offsets. */
export interface ContractCode {
  readonly deployedBytecode: string
  readonly links: readonly { readonly start: number; readonly length: number }[]
}

export interface Contracts {
  readonly origins: readonly { readonly name: string; readonly licence: string }[]
  /** Circle's token, version 2.2. */
  readonly token: ContractCode
  /** The library that the token calls. */
  readonly signatureChecker: ContractCode
  /** Creation code, hex with 0x: run once, it gives the code of Multicall3. */
  readonly multicall3: string
}

export const CONTRACTS_FILE = 'sandbox-contracts.json'

export const readContracts = (): Contracts =>
  JSON.parse(readFileSync(dataFile(CONTRACTS_FILE), 'utf8')) as Contracts
