// Verifies the receipt of a page.
import { VerifiedReceipt } from '../components/verified-receipt.tsx'
import { mount } from './lib/mount.ts'

mount('verified-receipt', VerifiedReceipt)
