import { z } from 'zod'

/** Address of a wallet: of an EVM chain, in any letters, or of Solana. What is neither has never paid, and is a mistake. */
export const Wallet = z
  .string()
  .regex(
    /^(?:0[xX][0-9a-fA-F]{40}|[1-9A-HJ-NP-Za-km-z]{32,44})$/,
    'must be the address of a wallet: 0x and 40 hexadecimal digits, or 32 to 44 letters and digits of Solana',
  )
