/** The wire form of pictures, of what actions have done, and of recordings. */
import { z } from 'zod';
import type { Performed, Picture, Recording } from '../../core/desktop/desktop.ts';
import { Answer } from '../../kit/answer.ts';
import { mediaTypeOf } from './inputs.ts';
import { namedObject } from '../inputs.ts';

export const PictureView = namedObject('DesktopPicture', {
  mime_type: z.string(),
  width: z.int(),
  height: z.int(),
  screen_width: z.int(),
  screen_height: z.int(),
});

/** Fields of an answer that a picture belongs to. */
export const pictureFields = {
  screenshot: z.string().optional().describe('The picture in base64.'),
  screenshot_info: PictureView.optional(),
  screenshot_error: z.string().optional().describe('Why there is no picture, although one was asked for.'),
};

export function pictureView({ picture, pictureError }: Pick<Performed, 'picture' | 'pictureError'>) {
  return {
    ...(picture && { screenshot: base64(picture), screenshot_info: pictureInfo(picture) }),
    ...(pictureError !== null && { screenshot_error: pictureError }),
  };
}

export function pictureInfo({ format, image, screen }: Picture): z.input<typeof PictureView> {
  return {
    mime_type: mediaTypeOf(format),
    ...image,
    screen_width: screen.width,
    screen_height: screen.height,
  };
}

export function base64({ bytes }: Picture): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64');
}

export const RecordingView = namedObject('DesktopRecording', {
  status: z.enum(['idle', 'recording', 'stopped']),
  duration: z.number().describe('Seconds.'),
  save_path: z.string().nullable(),
  file_size_bytes: z.int().nullable(),
  playable: z.boolean().nullable().describe('Whether the file is there and has frames; null without a recording.'),
  error: z.string().nullable().describe('Why the film ended before its time and before it was stopped.'),
});

export function recordingAnswer(recording: Recording): Answer<z.input<typeof RecordingView>> {
  const { status, seconds: duration, savePath: save_path, fileBytes: file_size_bytes } = recording;
  const { isPlayable: playable, failure } = recording;
  const error = failure?.message ?? null;
  return new Answer(
    { status, duration, save_path, file_size_bytes, playable, error },
    failure ? { message: `The film ended early: ${failure.message}`, hint: failure.hint } : {},
  );
}

export const ActionResult = namedObject('DesktopActionResult', {
  status: z.literal('success'),
  action_performed: z.string(),
  x: z.int().optional().describe('Of the pointer, where the action asks for it.'),
  y: z.int().optional(),
  ...pictureFields,
});
