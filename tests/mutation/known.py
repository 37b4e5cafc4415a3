"""Survivors that somebody has looked at, each with the reason.

EQUIVALENT mutants give the right answer on every input, if for another reason than the author's; they do
not count.  UNSEEN ones are wrong somewhere, and no case shows it; they count against the score.
"""

from __future__ import annotations


def _by_name(names_by_reason: dict[str, str]) -> dict[str, str]:
    return {name: reason for reason, names in names_by_reason.items() for name in names.split()}


EQUIVALENT = _by_name(
    {
        "what pads this load is multiplied by the zeros that pad the other one": """
            awq_gemm:25:change_constant:2 cublas_dsbmv:23:change_constant cublas_sdot:18:change_constant
            cublas_sgemm_strided_batched:23:change_constant cublas_zgemm_strided_batched:33:change_constant:2
            matmul:25:change_constant
            cublas_csymm:41:change_constant:2 cublas_dgemm_strided_batched:23:change_constant
            cublas_zgemm_batched:31:change_constant cublas_cgemv:24:change_constant cublas_csymv:26:change_constant
            cublas_sgemm_split_k:30:change_constant cublas_strsv:39:change_constant
            cublas_sgemm:20:change_constant cublas_sgemm:21:change_constant
            cublas_sgemm_epilogues:34:change_constant cublas_sgemm_epilogues:35:change_constant
            cublas_sgemm_scale_then_add:32:change_constant cublas_sgemm_scale_then_add:33:change_constant
            mm:30:change_constant mm:34:change_constant
            mm_split_k:21:change_constant mm_split_k:22:change_constant
            mm_split_k_two_launches:18:change_constant mm_split_k_two_launches:19:change_constant
            mm_warp_table:18:change_constant mm_warp_table:19:change_constant
        """,
        "what pads this load lies in rows or columns that are stored nowhere": """
            cublas_cgeru:19:change_constant:2 cublas_sger:15:change_constant cublas_strsv:44:change_constant
            mish_backward:13:change_constant permute_cols:13:change_constant sin:22:change_constant
            copy_:23:change_constant cos:16:change_constant:3 cublas_csymm:56:change_constant:2
            div:39:change_constant:3 log10:15:change_constant:2 soft_margin_loss:14:change_constant
            add_into_a_copy:13:change_constant add_into_a_copy:14:change_constant
            cublas_saxpy_logging_thread:19:change_constant cublas_saxpy_logging_thread:20:change_constant
            cublas_sgemm:27:change_constant
            embedding:16:change_constant embedding_in_a_library:19:change_constant
            gather_tuple_arguments:23:change_constant
            fused_add_rms_norm:24:change_constant fused_add_rms_norm_module:19:change_constant
            fused_add_rms_norm_two_kernels:24:change_constant fused_add_rms_norm_two_passes:29:change_constant
            mm_autotune_reset:26:change_constant mm_autotune_reset:27:change_constant
            mm_gemv:28:change_constant mm_persistent:18:change_constant
            mm_states_precision:18:change_constant mm_states_precision:19:change_constant
            reshape_and_cache_two_streams:20:change_constant
            rms_norm:17:change_constant
            rms_norm_cache_hints:19:change_constant rms_norm_cache_hints:20:change_constant
            rms_norm_graph_by_pointer:23:change_constant rms_norm_graph_by_pointer:24:change_constant
            rms_norm_persistent:12:change_constant
            rms_norm_staged_output:22:change_constant rms_norm_staged_output:23:change_constant
            rms_norm_tuning_knobs:36:change_constant rms_norm_tuning_knobs:37:change_constant
            rms_norm_workspace_pool:30:change_constant rms_norm_workspace_pool:31:change_constant
            silu_autotune_key:29:change_constant silu_kernel_factory:17:change_constant
            softmax_autotune:37:change_constant softmax_heuristics:37:change_constant
            rotary_embedding_join_split:16:change_constant rotary_embedding_join_split:19:change_constant
            rotary_embedding_join_split:20:change_constant silu_libdevice:17:change_constant
            softmax_skips_rescaling:26:change_constant softmax_three_passes:30:change_constant
            topk_softmax_logits_first:15:change_constant
            cutlass_scaled_mm_azp:25:change_constant
            fused_add_rms_norm_autotune:38:change_constant softmax_reduces_pairs:29:change_constant
        """,
        "what pads this load is replaced before it is used, or counts nothing where it is": """
            softmax_autotune:28:change_constant softmax_plan_cache:21:change_constant topk_softmax:17:change_constant
            softmax_split_rows:29:change_constant rms_norm_inference_cast:22:change_constant
        """,
        "the second of two that are combined is empty wherever the first one is, or they are one together": """
            rms_norm_inference_cast:13:change_constant rms_norm_inference_cast:13:change_constant:2
            rms_norm_inference_cast:13:change_constant:3 rms_norm_inference_cast:13:drop_condition
            rms_norm_inference_cast:13:swap_operator
        """,
        "at the bound both branches give the same": """
            apply_repetition_penalties:23:swap_operator asin:15:swap_operator:2 div_:20:swap_operator
            logit:17:swap_operator:2 floor_divide:21:swap_operator:4 pairwise_distance:27:swap_operator:4
            renorm:12:swap_operator
        """,
        "a number that is not 0 is below 1 where it is below 0": """
            div:17:change_constant:2
        """,
        "the additional tile lies beyond the diagonal, where everything is masked": """
            cublas_dsyr2:15:swap_operator
        """,
        "the size is a multiple of the block, so that the bound is met nowhere": """
            awq_gemm:19:skip_last ggml_mul_mat_a8:48:swap_operator:6 gptq_marlin_24_gemm:44:drop_condition
        """,
        "rounded to the answer's dtype in one step instead of two, which is right as well": """
            arange_limits_in_memory:14:force_branch:2
        """,
        "the branch is for an operator with a gate; this one has none, so that it is never compiled": """
            rms_norm_heuristics:22:drop_term:2
        """,
        "a comparison with NaN is false without the condition": "argmax:13:drop_condition:3",
        "the search starts with the first element, and lanes moved by one cover all others": "argmax:23:shift_index",
        "only the lowest eight bits are stored, and these are the same": """
            convert_fp8:13:swap_operator cutlass_pack_scale_fp8:22:swap_operator
        """,
        "more iterations, in which all lanes have ended": "convert_vertical_slash_indexes:13:swap_operator:5",
        "a range that still grows covers its columns when it ends": """
            convert_vertical_slash_indexes:47:drop_condition:4
        """,
        "every dtype holds the value": """
            convert_vertical_slash_indexes:47:narrow:2 ggml_moe_a8:14:narrow
        """,
        "any number above all rows marks a sequence that does not exist": """
            cp_gather_indexer_k_quant_cache:18:change_constant:4
        """,
        "the sum is 0 before its first term": "cublas_sgeam:18:drop_term",
        "what is loaded is used nowhere, so that the load is not compiled": "linear:36:force_branch",
        "a matrix has one element along this dimension, whose stride is 0": """
            t:19:swap_operator t:19:swap_operator:2 t:19:swap_operator:3 t:20:swap_operator t:21:swap_operator:5
        """,
        "the value is 0, as are the places between": """
            zeros_like:12:drop_condition zeros_like:12:swap_arguments
        """,
        "the smallest normal numbers of the format are as far apart as the subnormal ones": """
            concat_and_cache_mla:18:change_constant
        """,
        "the window of sources begins before the first one, and is longer than they are": """
            upsample_nearest2d_backward:20:change_constant upsample_nearest2d_backward:20:drop_term
        """,
        "coordinates of lanes behind the end wrap around to elements of the tensor; nothing of them is stored": """
            _to_copy:23:drop_mask
        """,
        "targets are 1 and -1, which every dtype holds": """
            soft_margin_loss:15:narrow soft_margin_loss:15:narrow:2
        """,
        "what is not attended to was loaded as 0 and has the weight 0": """
            paged_attention_v1:51:drop_condition
        """,
        "what pads the end of a row comes after everything that is stored of its running sum": """
            cumsum:23:change_constant cumsum_associative_scan:21:change_constant cumsum_look_back:16:change_constant
            cumsum_three_launches:15:change_constant cumsum_three_launches:24:change_constant
        """,
        "exp of -inf is 0 whatever finite number is subtracted first": """
            softmax_autotune:31:change_constant:2 softmax_skips_rescaling:15:change_constant:2
            softmax_reduces_pairs:12:change_constant:2
            softmax_skips_rescaling:22:change_constant:2 softmax_split_rows:17:change_constant:2
            softmax_reduces_pairs:24:change_constant:2 softmax_reduces_pairs:24:swap_operator
        """,
        "rows past the last may hold anything, nan too; they are stored nowhere": """
            softmax_three_passes:19:change_constant softmax_three_passes:19:drop_condition
            softmax_three_passes:19:swap_operator softmax_three_passes:26:change_constant
            softmax_three_passes:26:drop_condition softmax_three_passes:26:swap_operator
        """,
        "tokens past the last have the slot -1, which the next condition leaves out": """
            reshape_and_cache:19:drop_condition:4 reshape_and_cache:19:swap_operator
        """,
        "the address is inside without the mask as well: a remainder, or a cosine with the sines behind it": """
            add_fast_path:30:drop_mask
            gather_tuple_arguments:23:drop_mask gather_tuple_arguments:23:swap_operator:2
            gather_tuple_arguments:25:drop_mask:2 gather_tuple_arguments:25:swap_operator:3
            rotary_embedding_join_split:19:drop_mask rotary_embedding_join_split:19:swap_operator:3
            rotary_embedding_join_split:33:drop_mask rotary_embedding_join_split:33:swap_operator:3
            rotary_embedding:17:drop_mask rotary_embedding_one_launch:31:drop_mask
            rotary_embedding_scratch:17:drop_mask rotary_embedding_scratch:17:swap_operator
            rotary_embedding_looked_up:15:drop_mask
        """,
        "experts that do not exist weigh 0 and stand behind all that do, of which there are enough": """
            topk_softmax:21:change_constant topk_softmax:21:drop_condition topk_softmax:21:swap_operator
            topk_softmax_ranks:21:drop_condition topk_softmax_ranks:21:swap_operator:2
        """,
        "any number below every weight marks what was chosen": """
            topk_softmax:28:change_constant topk_softmax:32:change_constant
        """,
        "the size was padded to whole blocks before": """
            cublas_sgemm_views:16:skip_last mm_autotune_reset:24:skip_last mm_gemv:13:skip_last mm_gemv:26:skip_last
            mm_gemv:46:skip_last:2 mm_gemv:48:skip_last:4 mm_padded:16:skip_last mm_persistent:16:skip_last
            mm_states_precision:16:skip_last
        """,
        "fewer programs walk over the same blocks": """
            cublas_sgemm_epilogues:53:skip_last
            cublas_sgemm_scale_then_add:45:skip_last:5 cublas_sgemm_scale_then_add:45:skip_last:6
            mm_persistent:12:change_constant:2 mm_persistent:37:skip_last
            rms_norm_persistent:13:change_constant:2 rms_norm_persistent:37:skip_last
            silu_persistent:11:change_constant:2 silu_persistent:30:skip_last
        """,
        "a way that is slower and just as right": """
            add:27:force_branch mm_autotune_reset:30:force_branch:2 softmax_autotune:21:swap_operator
            softmax_heuristics:20:force_branch:2 fused_add_rms_norm_autotune:31:force_branch:2
            renorm:24:force_branch:2 renorm:26:force_branch:2 renorm:33:force_branch:2 renorm:35:force_branch
        """,
        "any number but 0 is a raised flag": "cumsum_look_back:25:change_constant",
        "a step more, with nothing left to divide": """
            gather_tuple_arguments:17:change_constant:2 gather_tuple_arguments:17:skip_last
        """,
        "a grid of one program stays one": """
            _local_scalar_dense:19:skip_last embedding_launch_per_row:22:skip_last silu_warmed_handle:30:skip_last:3
            silu_warmed_handle:30:skip_last:4
        """,
        "a weaker assumption is as right": "add_with_its_bench:17:swap_operator",
        "a loop over no heads, or an increment of 0, by which every offset is multiplied": """
            rotary_embedding_one_launch:34:force_branch rotary_embedding_one_launch:34:swap_operator
            cublas_saxpy_quick_return:18:swap_operator:3 cublas_saxpy_quick_return:19:swap_operator:3
        """,
    }
)

UNSEEN = _by_name(
    {
        "the interpreter rounds both ways of dividing alike": "div_:19:force_branch",
        "only an input of more than 1,048,576 elements has so many parts, and full cases have fewer": """
            binary_cross_entropy_with_logits:33:drop_term:2 huber_loss:27:drop_term margin_ranking_loss:29:drop_term
        """,
        "no row of a case has more than 2,048 blocks, which float16 can count": """
            convert_vertical_slash_indexes:46:narrow
        """,
        "the interpreter takes the first configuration that raises nothing, and this shows in another": """
            mm_autotune_reset:27:drop_mask mm_autotune_reset:27:swap_operator:4
            mm_autotune_reset:29:drop_condition mm_autotune_reset:29:swap_operator:2
            mm_autotune_reset:31:drop_mask mm_autotune_reset:31:shift_index mm_autotune_reset:31:swap_operator
            mm_autotune_reset:31:swap_operator:2 mm_autotune_reset:31:swap_operator:3
            mm_autotune_reset:33:swap_operator:3 mm_autotune_reset:46:skip_last:4 softmax_autotune:22:drop_term
        """,
        "a race: the interpreter runs the programs in order, so that the last one sees all": """
            cumsum_look_back:20:change_constant:2 sum_last_program:19:force_branch
        """,
        "the tolerance allows a product that was rounded to half precision before the sum": """
            hardsigmoid:14:force_branch
            add:24:force_branch:2 add_fast_path:13:force_branch:2 add_fast_path:13:narrow
            add_into_a_copy:15:force_branch:2 add_outer_blocks:19:force_branch:2
        """,
        "the error is about as large as the tolerance, or smaller": """
            polygamma:38:swap_operator:5
            add_fast_path:13:narrow:2 ggml_mul_mat_vec_a8:50:narrow:3 softmax_heuristics:34:narrow
            silu_polynomial:17:change_constant silu_polynomial:17:change_constant:2
            silu_polynomial:18:change_constant silu_polynomial:18:drop_term
            silu_polynomial:20:change_constant silu_polynomial:20:drop_term:2 silu_polynomial:21:change_constant
        """,
        "only float64 tensors take this way, and no case has any": """
            add:28:force_branch:2 add:28:shift_index silu:19:force_branch:2
        """,
        "the slots of a block are neighbours in every case": "reshape_and_cache:29:drop_term:13",
    }
)
