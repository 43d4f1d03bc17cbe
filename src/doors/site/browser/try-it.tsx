// Forms that try tools.
import { TryForm } from '../components/try/form.tsx'
import { mount } from './lib/mount.ts'

mount('try-it', TryForm)
