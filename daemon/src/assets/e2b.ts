/** The program that shows values as clients of E2B read them. */
import formats from './formats.py' with { type: 'text' };

export const formatsProgram = formats;
