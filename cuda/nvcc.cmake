# Finds nvcc and decides which GPUs kernels are compiled for. Sets GPUFILT_HAS_CUDA.
set(GPUFILT_CUDA AUTO CACHE STRING "The CUDA backend: AUTO (where nvcc is found), ON or OFF")
set_property(CACHE GPUFILT_CUDA PROPERTY STRINGS AUTO ON OFF)
option(GPUFILT_CUDA_ONE "Compile kernels for the GPU of this machine alone (sm_90 where there is none)" OFF)

set(GPUFILT_HAS_CUDA FALSE)
if(NOT GPUFILT_CUDA STREQUAL "AUTO" AND NOT GPUFILT_CUDA)
  return()
endif()

# The toolkit's own packages put nvcc where PATH does not look.
if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
  find_program(GPUFILT_NVCC nvcc HINTS ${CUDAToolkit_ROOT} ENV CUDA_HOME ENV CUDA_PATH
    PATHS /usr/local/cuda /opt/cuda PATH_SUFFIXES bin)
  mark_as_advanced(GPUFILT_NVCC)
  if(GPUFILT_NVCC)
    set(CMAKE_CUDA_COMPILER ${GPUFILT_NVCC})
  endif()
endif()

if(GPUFILT_CUDA_ONE AND NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
    OUTPUT_VARIABLE capability ERROR_QUIET RESULT_VARIABLE failed)
  if(failed EQUAL 0 AND capability MATCHES "^([0-9]+)\\.([0-9])")
    set(CMAKE_CUDA_ARCHITECTURES "${CMAKE_MATCH_1}${CMAKE_MATCH_2}" CACHE STRING "GPUs kernels are compiled for")
  else()
    set(CMAKE_CUDA_ARCHITECTURES 90 CACHE STRING "GPUs kernels are compiled for")
  endif()
endif()
set(GPUFILT_ALL_ARCHITECTURES FALSE)
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  # For the compiler's own check; the list follows when its version is known.
  set(CMAKE_CUDA_ARCHITECTURES 90)
  set(GPUFILT_ALL_ARCHITECTURES TRUE)
endif()

include(CheckLanguage)
check_language(CUDA)
if(NOT CMAKE_CUDA_COMPILER)
  if(GPUFILT_CUDA STREQUAL "AUTO")
    message(STATUS "No working nvcc: built without CUDA")
    return()
  endif()
  message(FATAL_ERROR "GPUFILT_CUDA=ON, but no working nvcc was found; set CUDACXX, or CUDAToolkit_ROOT")
endif()
enable_language(CXX)
enable_language(CUDA)
if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 12.4)
  if(GPUFILT_CUDA STREQUAL "AUTO")
    message(STATUS "nvcc ${CMAKE_CUDA_COMPILER_VERSION} is older than 12.4: built without CUDA")
    return()
  endif()
  message(FATAL_ERROR "GPUFILT_CUDA=ON needs nvcc 12.4 or newer, not ${CMAKE_CUDA_COMPILER_VERSION}")
endif()
find_package(CUDAToolkit REQUIRED)

# Turing to Blackwell. Code of one capability runs on all later ones of the same major
# version, so 75 is for Turing, 80 for Ampere and Ada (86, 87, 89 have a smaller shared memory,
# which kernels ask for, and no instruction that these kernels would use), 90 for Hopper, 100
# and 120 for the two Blackwells; the PTX of the last two is for what comes later.
if(GPUFILT_ALL_ARCHITECTURES)
  if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 12.8)
    set(CMAKE_CUDA_ARCHITECTURES 75-real 80-real 90)
  else()
    set(CMAKE_CUDA_ARCHITECTURES 75-real 80-real 90-real 100 120)
  endif()
  set(CMAKE_CUDA_ARCHITECTURES ${CMAKE_CUDA_ARCHITECTURES} CACHE STRING "GPUs kernels are compiled for" FORCE)
endif()
set(CMAKE_CUDA_STANDARD 17)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
set(CMAKE_CUDA_EXTENSIONS OFF)
set(GPUFILT_HAS_CUDA TRUE)
message(STATUS "CUDA ${CMAKE_CUDA_COMPILER_VERSION} for ${CMAKE_CUDA_ARCHITECTURES}")
